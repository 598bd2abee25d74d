import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { builtArguments } from './fleet/balancer.ts'

const program = fileURLToPath(new URL('../dist/serve.js', import.meta.url))

test('an instance is configured by its environment, and SIGTERM stops it', async () => {
  const env = { PATH: process.env['PATH'], PORT: '0', STATE_KEYS: '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(2) }
  const instance = spawn(process.execPath, [...builtArguments, program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: instance.stdout }), 'line')
  const response = await fetch(new URL('/readyz', String(line).replace('Serving ', '')))
  expect(response.status).toBe(200)
  await response.body?.cancel()
  instance.kill('SIGTERM')
  expect(await once(instance, 'exit')).toEqual([0, null])
})
