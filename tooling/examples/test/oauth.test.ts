import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { node22 } from '@tooling/auth-server'
import { expect, test } from 'vitest'

const source = new URL('../src/oauth/', import.meta.url)

test('the program of the guide on OAuth logs in, and prints the messages in the guide', async () => {
  const [port, issuerPort] = await findFreePorts()
  const env = { ...process.env, PORT: String(port), ISSUER_PORT: String(issuerPort) }
  const program = fileURLToPath(new URL('oauth.mjs', source))
  const { stdout } = await promisify(execFile)(node22, [program], { env })
  const printed = stdout
    .replaceAll(`localhost:${port}`, 'localhost:3000')
    .replaceAll(`localhost:${issuerPort}`, 'localhost:4000')
  await expect(printed).toMatchFileSnapshot(fileURLToPath(new URL('oauth.txt', source)))
})

async function findFreePorts(): Promise<readonly [number, number]> {
  const servers = [createServer().listen(0, 'localhost'), createServer().listen(0, 'localhost')]
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const [port = 0, issuerPort = 0] = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  for (const server of servers) server.close()
  await Promise.all(servers.map((server) => once(server, 'close')))
  return [port, issuerPort]
}
