import { createServer } from 'node:http'
import { connect as openSocket, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Agent } from 'undici'
import { callWith, createJsonAnswer, rpcRequest, rpcResult, scriptedServer } from '../testing/scripted-server.ts'
import { connectHttp } from './connect-node.ts'

test('the dispatcher of the options sends the requests, and is not closed', async () => {
  await using server = await scriptedServer(createJsonAnswer(rpcResult()))
  let carried = 0
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    carried += 1
    return dispatch(options, handler)
  })
  for (let round = 0; round < 2; round += 1) {
    const connection = connectHttp(server.url, { dispatcher })
    await connection.exchange(rpcRequest(), callWith())
    await connection.close()
  }
  expect(carried).toBe(2)
  await dispatcher.close()
})

/** A forward proxy, as companies have one. Resolves to its URL, and the hosts to which it has opened tunnels. */
async function startForwardProxy(
  refuse?: (socket: Socket) => void,
): Promise<{ readonly url: string; readonly tunnels: readonly string[] }> {
  const tunnels: string[] = []
  const http = createServer().on('connect', ({ url = '' }, socket: Socket) => {
    tunnels.push(url)
    if (refuse !== undefined) return refuse(socket)
    const { hostname, port } = new URL(`http://${url}`)
    const upstream = openSocket(Number(port), hostname, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    upstream.on('error', () => socket.destroy()).pipe(socket)
    socket.on('error', () => upstream.destroy()).pipe(upstream)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  const address = http.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, tunnels }
}

test.each([
  ['1', '', 1],
  ['1', '127.0.0.1', 0],
  ['', '', 0],
])('with NODE_USE_ENV_PROXY "%s" and NO_PROXY "%s", %i requests use the proxy', async (use, except, count) => {
  await using server = await scriptedServer(createJsonAnswer(rpcResult()))
  const proxy = await startForwardProxy()
  vi.stubEnv('NODE_USE_ENV_PROXY', use)
  vi.stubEnv('HTTP_PROXY', proxy.url)
  vi.stubEnv('NO_PROXY', except)
  onTestFinished(() => void vi.unstubAllEnvs())
  await using connection = connectHttp(server.url)
  expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
  expect(proxy.tunnels).toHaveLength(count)
})

test.each([
  [407, { code: 'status', status: 407, message: 'the proxy answered 407 to CONNECT', mayHaveRun: false }],
  [502, { code: 'status', status: 502, message: 'the proxy answered 502 to CONNECT', mayHaveRun: false }],
  [0, { code: 'connect', message: expect.stringMatching(/^no connection to the proxy .* \(UND_ERR_SOCKET\)$/) }],
  [undefined, { code: 'timeout', message: expect.stringMatching(/^no connection to the proxy .* in time$/) }],
])('a proxy that answers %s is not taken for the server, nor asked without an end', async (status, failure) => {
  await using server = await scriptedServer(createJsonAnswer(rpcResult()))
  const answer = status === 0 ? '' : `HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`
  const proxy = await startForwardProxy((socket) => void (status === undefined ? socket.resume() : socket.end(answer)))
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  vi.stubEnv('HTTP_PROXY', proxy.url)
  onTestFinished(() => void vi.unstubAllEnvs())
  await using connection = connectHttp(server.url, status === undefined ? { connect: { timeout: 50 } } : {})
  await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject(failure)
  expect(proxy.tunnels.length).toBeLessThanOrEqual(3)
  expect(server.received).toEqual([])
})

test('a given fetch sends the requests and does not follow redirects', async () => {
  const sent: unknown[] = []
  await using connection = connectHttp('https://example.com/mcp?tenant=a', {
    fetch: async (url, { method, redirect, headers }) => {
      sent.push(url, method, redirect, new Headers(headers).get('mcp-method'))
      return Response.json(rpcResult())
    },
  })
  expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
  expect(sent).toEqual(['https://example.com/mcp?tenant=a', 'POST', 'manual', 'tools/call'])
})

test('a redirect that a browser hides is refused', async () => {
  const hidden = Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' })
  await using connection = connectHttp('https://example.com/mcp', { fetch: async () => hidden })
  await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'redirect' })
})

test('an error of the headers function reaches the caller unchanged', async () => {
  const reason = new Error('no token')
  await using connection = connectHttp('https://example.com/mcp', { headers: () => Promise.reject(reason) })
  await expect(connection.exchange(rpcRequest(), callWith())).rejects.toBe(reason)
})

test('hundreds of calls at once share one signal without a warning of listeners', async () => {
  const warnings: Error[] = []
  const listen = (warning: Error): void => void warnings.push(warning)
  process.on('warning', listen)
  await using server = await scriptedServer(createJsonAnswer(rpcResult()))
  const dispatcher = new Agent({ connections: 4 })
  await using connection = connectHttp(server.url, { dispatcher })
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 200 }, () => connection.exchange(rpcRequest(), callWith(signal))))
  process.off('warning', listen)
  await dispatcher.close()
  // Other tests of the process may have warnings of their own.
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([])
  expect(server.countConnections()).toBeLessThanOrEqual(4)
})
