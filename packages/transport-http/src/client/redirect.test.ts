import { describe, expect, test } from 'vitest'
import {
  callWith,
  createJsonAnswer,
  rpcRequest,
  rpcResult,
  scriptedServer,
  type ScriptedServer,
} from '../testing/scripted-server.ts'
import { type Connect, senders } from '../testing/senders.ts'
import { resolveRedirect } from './endpoint-state.ts'

const redirecting = (status: number, location: string): Promise<ScriptedServer> =>
  scriptedServer((response, received) => {
    if (received.url === '/mcp') response.writeHead(status, { location }).end()
    else createJsonAnswer(rpcResult())(response, received)
  })

describe.each(senders)('A redirect over %s', (_name, connect: Connect) => {
  test.each([307, 308])('%i within the origin repeats the whole request', async (status) => {
    await using server = await redirecting(status, '/elsewhere?a=1#fragment')
    await using connection = connect(server.url, { headers: { authorization: 'Bearer t' } })
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
    const [first, second] = server.received
    expect(second).toMatchObject({ method: 'POST', url: '/elsewhere?a=1', body: first?.body, headers: first?.headers })
  })

  test.each([301, 302, 303, 307, 308])(
    '%i to another origin is refused, and not a byte arrives there',
    async (status) => {
      await using other = await scriptedServer(createJsonAnswer(rpcResult()))
      await using server = await redirecting(status, `${other.origin}/mcp`)
      await using connection = connect(server.url, { headers: { authorization: 'Bearer t', 'x-api-key': 'k' } })
      await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'redirect', status })
      expect([other.countConnections(), other.countBytes()]).toEqual([0, 0])
    },
  )

  test.each([301, 302, 303])(
    '%i is refused within the origin too, because it does not repeat a POST',
    async (status) => {
      await using server = await redirecting(status, '/elsewhere')
      await using connection = connect(server.url)
      await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'redirect', status })
      expect(server.received).toHaveLength(1)
    },
  )

  test.each([
    [302, 'https://login.test/start?state=s3cr3t', 'the server redirects (302) to https://login.test/start, and only'],
    [301, '/mcp/', 'the server redirects (301) to /mcp/, and only'],
    [
      308,
      'https://other.test/mcp?key=s3cr3t',
      'the server redirects (308) to another origin, https://other.test/mcp: if',
    ],
  ])('%i to %s is refused with the address, without its query', async (status, location, message) => {
    await using server = await redirecting(status, location)
    await using connection = connect(server.url)
    const failure = await connection.exchange(rpcRequest(), callWith()).catch(String)
    expect(failure).toContain(message)
    expect(failure).not.toContain('s3cr3t')
  })

  test('a circle of redirects ends after three', async () => {
    await using server = await scriptedServer((response) => response.writeHead(307, { location: '/mcp' }).end())
    await using connection = connect(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toThrow('more than 3 redirects')
    expect(server.received).toHaveLength(4)
  })
})

test.each([
  ['https on the same host', 'http://example.com/mcp', 'https://example.com/other', 'https://example.com/other'],
  ['a path', 'https://example.com:8443/mcp', '/v2/mcp', 'https://example.com:8443/v2/mcp'],
  ['the same origin written in full', 'https://example.com/mcp', 'https://EXAMPLE.com:443/x', 'https://example.com/x'],
])('a redirect to %s is followed', (...[, from, location, to]) => {
  expect(resolveRedirect(new URL(from), { status: 308, header: () => location }).href).toBe(to)
})

test.each([
  ['plain http', 'https://example.com/mcp', 'http://example.com/mcp'],
  ['another port', 'http://example.com/mcp', 'https://example.com:8443/mcp'],
  ['the https of another port', 'http://example.com:8080/mcp', 'https://example.com/mcp'],
  ['a subdomain', 'https://example.com/mcp', 'https://a.example.com/mcp'],
  ['a host without a scheme', 'https://example.com/mcp', '//evil.test/mcp'],
  ['backslashes that browsers read as slashes', 'https://example.com/mcp', '\\\\evil.test\\mcp'],
  ['credentials', 'https://example.com/mcp', 'https://a:b@example.com/mcp'],
  ['a scheme that is no http', 'https://example.com/mcp', 'file:///etc/passwd'],
  ['nowhere', 'https://example.com/mcp', undefined],
  ['what cannot be read', 'https://example.com/mcp', 'https://:::'],
])('a redirect to %s is refused', (_title, from, location) => {
  const follow = (): URL => resolveRedirect(new URL(from), { status: 307, header: () => location })
  expect(follow).toThrow(expect.objectContaining({ name: 'HttpError', code: 'redirect' }))
})
