import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from './free-port.ts'

test('a port that is in use is rejected', async () => {
  const port = await freePort()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve))
  try {
    await expect(freePort(port)).rejects.toThrow(`port ${port} is in use`)
  } finally {
    await new Promise((resolve) => taken.close(resolve))
  }
})

test('a free port is returned', async () => {
  const port = await freePort()
  expect(await freePort(port)).toBe(port)
})
