import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { discovery, sendJson, serveRaw } from '../testing/serve-raw.ts'

const sendPage = (response: ServerResponse, status: number, title: string): void =>
  void response.writeHead(status, { 'content-type': 'text/html' }).end(`<script>a<b</script><title>${title}</title>`)

test('pages of a proxy in place of answers are faults of the proxy', async () => {
  await using http = await serveRaw((request, response) => {
    if (request.method === 'GET') return sendPage(response, 200, 'My app')
    if (request.headers.host?.startsWith('127.0.0.1') !== true) return response.end()
    return request.headers['mcp-method'] === 'server/discover'
      ? sendJson(response, 200, { jsonrpc: '2.0', id: 1, result: discovery })
      : sendPage(response, 404, 'Not\n here')
  })
  const { json } = await runCommand(['doctor', http.url, '--json'])
  const { checks } = Object(json())
  for (const [id, what] of [
    ['unknown-method', 'An unknown method'],
    ['unknown-tool', 'An unknown tool'],
  ])
    expect(checks).toContainEqual({
      id,
      status: 'wrong',
      found: `${what} gives 404 and the page "Not here".`,
      change: expect.stringContaining('proxy_intercept_errors off'),
    })
  const host = 'A request for a foreign Host does not reach the server: 200.'
  const health = '/readyz gives 200 and the page "My app", so a balancer cannot ask if the server is ready.'
  expect(checks).toContainEqual({ id: 'host', status: 'ok', found: host })
  expect(checks).toContainEqual({ id: 'health', status: 'skipped', found: health })
})

const location = 'https://login.test/start?state=secret'

test.each<[string, (response: ServerResponse) => unknown]>([
  ['302, a redirect to "https://login.test/start"', (response) => response.writeHead(302, { location }).end()],
  ['403 and the page "Blocked"', (response) => sendPage(response, 403, 'Blocked')],
  ['200 and the page "Sign in"', (response) => sendPage(response, 200, 'Sign in')],
])('an address where a proxy answers %s is no endpoint', async (answer, send) => {
  await using http = await serveRaw((_, response) => void send(response))
  const { json } = await runCommand(['doctor', http.url, '--json'])
  expect(Object(json()).checks[0]).toMatchObject({
    id: 'reach',
    status: 'wrong',
    found: `A POST to /mcp gives ${answer}, and no message of the protocol.`,
  })
})

test('a 403 of the server itself is no missing revision', async () => {
  const error = { code: -32600, message: 'The Origin is not one that may call here' }
  await using http = await serveRaw((_, response) => sendJson(response, 403, { jsonrpc: '2.0', error }))
  const { json } = await runCommand(['doctor', http.url, '--json'])
  expect(Object(json()).checks).toContainEqual({
    id: 'discover',
    status: 'wrong',
    found: expect.stringContaining('403, error -32600: The Origin'),
    change: expect.stringContaining('a proxy may have added a header'),
  })
})

test('a proxy that asks for a password is no server without metadata', async () => {
  await using http = await serveRaw((_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Basic realm="Staging"' }).end(),
  )
  const { json } = await runCommand(['doctor', http.url, '--json'])
  expect(Object(json()).checks).toContainEqual({
    id: 'auth',
    status: 'wrong',
    found: 'A 401 asks for "Basic", and clients of the protocol send Bearer or DPoP.',
    change: 'Let the proxy in front pass the endpoint on without a login of its own.',
  })
})
