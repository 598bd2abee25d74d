import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import {
  type Answer,
  callWith,
  formatEvent,
  createEventStreamAnswer,
  createJsonAnswer,
  type ReceivedRequest,
  rpcRequest,
  rpcResult,
  scriptedServer,
} from '../testing/scripted-server.ts'
import { senders } from '../testing/senders.ts'
import { connectHttp } from './connect-node.ts'

const error = (code: number) => ({ jsonrpc: '2.0', id: null, error: { code, message: 'Bad Request' } })
const initialized = { jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18', capabilities: {} } }

/** The JSON-RPC method of a request, or its HTTP method. */
function methodOf({ method, body }: ReceivedRequest): string {
  return body === '' ? String(method) : String((JSON.parse(body) as { method: unknown }).method)
}

/** Answers by method; any other request as a server of an earlier revision does that misses a session. */
function byMethod(
  answers: Readonly<Record<string, Answer>>,
  otherwise: Answer = createJsonAnswer(error(-32_000), 400),
): Answer {
  return (response, received) => (answers[methodOf(received)] ?? otherwise)(response, received)
}

const html: Answer = (response) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found')
const silentStream: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(formatEvent(initialized))
}

describe.each(senders)('A server of an earlier revision, over %s', (_, connect) => {
  test.each([
    ['400 without a session', createJsonAnswer(error(-32_000), 400), createJsonAnswer(initialized)],
    ['400 of another code', createJsonAnswer(error(-32_600), 400), createJsonAnswer(initialized)],
    ['404', createJsonAnswer(error(-32_001), 404), createJsonAnswer(initialized)],
    [
      '405 without a body',
      ((response) => void response.writeHead(405).end()) satisfies Answer,
      createJsonAnswer(initialized),
    ],
    ['422 with text', createJsonAnswer('expect initialize request', 422), createJsonAnswer(initialized)],
    ['400, and a stream', createJsonAnswer(error(-32_000), 400), createEventStreamAnswer(formatEvent(initialized))],
    ['400, and a stream that does not end', createJsonAnswer(error(-32_000), 400), silentStream],
  ] as const)('is named by its revision after %s', async (_, refusal, initialize) => {
    await using server = await scriptedServer(byMethod({ initialize }, refusal))
    await using connection = connect(server.url)
    for (const id of [7, 8]) {
      await expect(connection.exchange(rpcRequest('tools/list', {}, id), callWith())).rejects.toMatchObject({
        name: 'HttpError',
        code: 'unsupported_version',
        message: expect.stringContaining('this client speaks only MCP 2026-07-28; the server answered as 2025-06-18'),
      })
    }
    expect(server.received.map(methodOf)).toEqual(['tools/list', 'server/discover', 'initialize', 'tools/list'])
  })
})

test('The session that was begun for the name is ended', async () => {
  const initialize = createJsonAnswer(initialized, 200, { 'mcp-session-id': 's-1' })
  await using server = await scriptedServer(byMethod({ initialize }))
  await using connection = connectHttp(server.url)
  await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'unsupported_version' })
  const last = server.received.at(-1)
  expect([last?.method, last?.headers['mcp-session-id']]).toEqual(['DELETE', 's-1'])
  expect(last?.headers['mcp-protocol-version']).toBe('2025-06-18')
})

describe('Another answer', () => {
  test.each([-32_020, -32_021, -32_022])('with the error %i of this revision is not changed', async (code) => {
    await using server = await scriptedServer(createJsonAnswer({ ...error(code), id: 7 }, 400))
    await using connection = connectHttp(server.url)
    expect(await connection.exchange(rpcRequest(), callWith())).toMatchObject({ error: { code } })
    expect(server.received).toHaveLength(1)
  })

  test('of a server that answers discovery is not changed, and the server is checked once', async () => {
    const discover = createJsonAnswer(rpcResult({ resultType: 'complete', supportedVersions: ['2026-07-28'] }, 0))
    const refusal = createJsonAnswer({ ...error(-32_601), id: 7 }, 404)
    await using server = await scriptedServer(byMethod({ 'server/discover': discover }, refusal))
    await using connection = connectHttp(server.url)
    for (let sent = 0; sent < 2; sent += 1) {
      const response = await connection.exchange(rpcRequest('no/such'), callWith())
      expect(response).toMatchObject({ error: { code: -32_601 } })
    }
    expect(server.received.map(methodOf)).toEqual(['no/such', 'server/discover', 'no/such'])
  })

  test.each([
    ['of no MCP server', html, 404],
    ['of a server that wants a login', ((response) => void response.writeHead(401).end()) satisfies Answer, 401],
    ['of one that is broken', ((response) => void response.writeHead(500).end()) satisfies Answer, 500],
  ] as const)('%s is not changed', async (_, answer, status) => {
    await using server = await scriptedServer(answer)
    await using connection = connectHttp(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'status', status })
  })

  test('of a server that does not answer about its revision is not changed, and the next one asks again', async () => {
    const clock = manualClock()
    const silent: Answer = () => {}
    await using server = await scriptedServer(byMethod({ 'server/discover': silent }))
    await using connection = connectHttp(server.url, { runtime: clock })
    for (const count of [1, 2]) {
      const response = connection.exchange(rpcRequest(), callWith())
      await expect
        .poll(() => server.received.map(methodOf).filter((method) => method === 'server/discover'))
        .toHaveLength(count)
      clock.advance(10_000)
      expect(await response).toMatchObject({ error: { code: -32_000 } })
    }
  })

  test('of a server that cannot be reached for its revision is not changed', async () => {
    const initialize: Answer = (response) => void response.destroy()
    await using server = await scriptedServer(byMethod({ initialize }))
    await using connection = connectHttp(server.url)
    const response = await connection.exchange(rpcRequest(), callWith())
    expect(response).toMatchObject({ error: { code: -32_000 } })
  })
})
