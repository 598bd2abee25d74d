import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCall } from '@x/exchange'
import { createRequest } from '../testing/scripted-upstream.ts'
import { createFetch } from './create-fetch.ts'
import { createUpstream } from './create-upstream.ts'
import { SecretReader } from './secret-reader.ts'

let server: Server
let origin: string
let challenge = 'Bearer'
beforeAll(async () => {
  server = createServer(({ url }, response) =>
    (url === '/mcp' ? response.writeHead(401, { 'www-authenticate': challenge }) : response).end('here'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const own = ['https://crm.example.com/mcp', 'https://login.example.com']

test('an issuer and an upstream that the file names may be on this machine', async () => {
  const response = await createFetch([...own, `${origin}/mcp`])(`${origin}/metadata`, {})
  expect(await response.text()).toBe('here')
})

test('an upstream cannot send the account of the gateway to an address of its choice', async () => {
  let calls = 0
  const inside = createServer((_, response) => {
    calls += 1
    response.end('{}')
  })
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  const metadata = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/metadata`
  challenge = `Bearer resource_metadata="${metadata}"`
  const clientCredentials = { issuer: 'https://login.example.com', id: 'gateway', secret: { env: 'SECRET' } }
  const secrets = new SecretReader('.', { SECRET: 'secret' })
  const upstream = { url: `${origin}/mcp`, auth: { clientCredentials } }
  const created = await createUpstream('crm', upstream, { folder: '.', secrets })
  if (!('connect' in created)) throw new Error('The upstream is in this process')
  const connection = created.connect({ principal: undefined, auth: undefined })
  await expect(connection.exchange(createRequest('tools/list'), createCall())).rejects.toBeInstanceOf(Error)
  expect(calls).toBe(0)
  await connection.close()
  inside.close()
})

test.each([
  ['on this machine, over http', () => origin, /Only https/],
  ['on this machine, over https', () => 'https://127.0.0.1', /private network/],
  ['at another port of a named host', () => 'https://127.0.0.1:8444', /private network/],
  ['in a private network', () => 'https://10.0.0.1', /private network/],
  ['in the metadata service of a cloud', () => 'https://169.254.169.254', /private network/],
])('a server that only an upstream names is not called %s', async (_, addressOf, problem) => {
  const named = createFetch([...own, undefined, 'https://127.0.0.1:8443'])
  await expect(named(`${addressOf()}/metadata`, {})).rejects.toThrow(problem)
})
