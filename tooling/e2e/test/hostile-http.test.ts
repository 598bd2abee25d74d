import { metaKeys } from '@x/schema'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { stateWith, keys } from './asking.ts'
import { startSplittingProxy } from './splitting-proxy.ts'
import { headWith, sendAndDisconnect, sendBytes } from './raw-http.ts'
import { waitingTool } from './waiting-tool.ts'

const meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
const bytes = Buffer.byteLength(body)
const sized = `Content-Length: ${bytes}`
const withHeaders = (...lines: string[]): string[] => [headWith([sized, ...lines]), body]
const callOf = (name: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: meta } })
const call = callOf('echo')
const withCall = (...lines: string[]): string[] => [
  headWith([`Content-Length: ${Buffer.byteLength(call)}`, 'Mcp-Method: tools/call', ...lines]),
  call,
]
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const manyChunks = Array.from({ length: 80 }, () => chunk('x'.repeat(65_536)))

type Row = readonly [title: string, parts: readonly string[], status: number]

const rejectedRequests: readonly Row[] = [
  ['another host (CVE-2025-66414)', withHeaders('Host: evil.test'), 403],
  ['a host that starts with the name of this one', withHeaders('Host: 127.0.0.1.evil.test'), 403],
  ['a host with credentials', withHeaders('Host: 127.0.0.1@evil.test'), 403],
  ['the origin of another page (CVE-2025-9611)', withHeaders('Origin: https://evil.test'), 403],
  ['the opaque origin null', withHeaders('Origin: null'), 403],
  ['an origin with the scheme file', withHeaders('Origin: file:///etc/passwd'), 403],
  ['the media type of a form (CVE-2026-33252)', withHeaders('Content-Type: text/plain'), 415],
  ['a compressed body', withHeaders('Content-Encoding: gzip'), 415],
  ['another path', [headWith([sized]).replace('/mcp', '/mcp/../admin'), body], 404],
  ['another method', [headWith([sized]).replace('POST', 'DELETE'), body], 405],
  ['a length above the limit (GHSA-f897-62hf-6gxq)', [headWith(['Content-Length: 999999999'])], 413],
  ['chunks whose sum is above the limit', [headWith(['Transfer-Encoding: chunked']), ...manyChunks], 413],
  ['a method header that differs from the body', withHeaders('Mcp-Method: tools/call'), 400],
  ['a repeated method header', withHeaders('Mcp-Method: tools/list', 'Mcp-Method: tools/call'), 400],
  ['a name header that differs from the body', withCall('Mcp-Name: other'), 400],
  ['a Base64 name header that decodes to more than the name', withCall('Mcp-Name: =?base64?ZWNobw0KWDogeQ==?='), 400],
  ['another version in the header', withHeaders('MCP-Protocol-Version: 2025-11-25'), 400],
]

/**
 * Requests that the parser of node:http rejects. It closes the connection at once, so the reset may overtake its
 * response if the peer still sends (RFC 9112, section 9.6).
 */
const unparsableRequests: readonly Row[] = [
  ['a negative length', [headWith(['Content-Length: -1']), body], 400],
  ['a length that is not an integer', [headWith(['Content-Length: 1e3']), body], 400],
  ['two lengths', [headWith([sized, 'content-length: 3']), body], 400],
  ['a length and chunks (request smuggling)', [headWith([sized, 'Transfer-Encoding: chunked']), chunk(body)], 400],
  ['a length that is shorter than the body', [headWith([`Content-Length: ${bytes - 1}`]), body], 400],
  ['a chunk whose length is not a number', [headWith(['Transfer-Encoding: chunked']), `zz\r\n${body}\r\n`], 400],
  ['headers of 40 KB', withHeaders(`X-Large: ${'x'.repeat(40_000)}`), 431],
  ['a header without a name', withHeaders(': nothing'), 400],
  ['a name header with a line feed', withCall('Mcp-Name: echo\nX-Injected: yes'), 400],
  ['a name header with a NUL character', withCall('Mcp-Name: echo\0'), 400],
]

async function serveTarget() {
  const { waits, started, stopped } = waitingTool()
  const received: unknown[] = []
  const run = (input: unknown): string => String(received.push(input))
  const echo = tool('echo', { description: 'Records its input', input: z.looseObject({}), run })
  const server = createServer({ name: 'b', version: '1', tools: [echo, waits], state: stateWith(keys.first) })
  return { http: await serveHttp(server), received, started, stopped }
}

describe.each([
  ['HTTP', async (port: number) => ({ port, [Symbol.asyncDispose]: () => Promise.resolve() })],
  ['HTTP through a proxy', startSplittingProxy],
] as const)('a hostile HTTP client, over %s', (_, reach) => {
  test('is rejected with the right status and a short message, and later requests succeed', async () => {
    const { http, received } = await serveTarget()
    await using _stopping = http
    await using route = await reach(http.port)
    for (const row of [...rejectedRequests, ...unparsableRequests]) {
      const [title, parts, status] = row
      const answer = await sendBytes(route.port, parts)
      const mayBeReset = unparsableRequests.includes(row) && route.port !== http.port
      const accepted = [`HTTP/1.1 ${status}`, ...(mayBeReset ? [''] : [])]
      expect(accepted, title).toContain(answer.slice(0, 'HTTP/1.1 400'.length))
      expect(answer, title).not.toMatch(/x-injected|<html|node:|\.ts:|access-control|set-cookie/i)
      expect(answer.length, title).toBeLessThan(2000)
      expect(await sendBytes(route.port, withHeaders()), title).toContain('"id":1')
    }
    expect(received).toEqual([])
  })

  test('that disconnects during a body, a header or a call leaves no open call', async () => {
    const { http, started, stopped } = await serveTarget()
    await using _stopping = http
    await using route = await reach(http.port)
    const waits = callOf('waits')
    const lines = [`Content-Length: ${Buffer.byteLength(waits)}`, 'Mcp-Method: tools/call', 'Mcp-Name: waits']
    for (const parts of [['POST /mc'], [headWith([sized])], [headWith([sized]), body.slice(0, 10)]]) {
      await sendAndDisconnect(route.port, parts, Promise.resolve())
    }
    await sendAndDisconnect(route.port, [headWith(lines), waits], started.opened)
    await stopped.opened
    expect(await sendBytes(route.port, withHeaders())).toContain('"id":1')
  })
})

test.each(['/mcp', '/sse'])('a GET of %s opens no stream of the HTTP+SSE transport [SHT-084]', async (path) => {
  const { http } = await serveTarget()
  await using _stopping = http
  const get = headWith(['Accept: text/event-stream']).replace('POST /mcp', `GET ${path}`)
  expect(await sendBytes(http.port, [get])).toMatch(/^HTTP\/1\.1 40[45] [^]*content-type: application\/json/i)
})

test('a body in thirty thousand chunks of a few bytes is read', async () => {
  const { http } = await serveTarget()
  await using _stopping = http
  const filler = `{"a":"${'x'.repeat(200_000)}"}`
  const text = call.replace('"arguments":{}', `"arguments":${filler}`)
  const parts = Array.from({ length: Math.ceil(text.length / 7) }, (_, at) => chunk(text.slice(at * 7, at * 7 + 7)))
  const head = headWith(['Transfer-Encoding: chunked', 'Mcp-Method: tools/call', 'Mcp-Name: echo'])
  expect(await sendBytes(http.port, [head, parts.join(''), '0\r\n\r\n'])).toContain('"resultType":"complete"')
})
