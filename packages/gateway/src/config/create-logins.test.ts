import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLoginFetch } from './create-logins.ts'

let server: Server
let origin: string
beforeAll(async () => {
  server = createServer((_, response) => response.end('here'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const fetchOf = (issuer: string, url = 'https://crm.example.com/mcp') =>
  createLoginFetch({
    listen: { protect: { resource: 'https://mcp.example.com/mcp', issuers: [issuer] } },
    login: undefined,
    upstreams: { crm: { url } },
  })

test('an issuer and an upstream that the file names may be on this machine', async () => {
  for (const named of [fetchOf(origin), fetchOf('https://login.example.com', `${origin}/mcp`)]) {
    const response = await named(`${origin}/metadata`, {})
    expect(await response.text()).toBe('here')
  }
})

test.each([
  ['on this machine, over http', () => origin, /Only https/],
  ['on this machine, over https', () => 'https://127.0.0.1', /private network/],
  ['in a private network', () => 'https://10.0.0.1', /private network/],
  ['in the metadata service of a cloud', () => 'https://169.254.169.254', /private network/],
])('a server that only an upstream names is not called %s', async (_, addressOf, problem) => {
  await expect(fetchOf('https://login.example.com')(`${addressOf()}/metadata`, {})).rejects.toThrow(problem)
})
