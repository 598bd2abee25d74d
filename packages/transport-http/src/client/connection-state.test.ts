import { expect, test } from 'vitest'
import { callWith, createJsonAnswer, rpcRequest, rpcResult, scriptedServer } from '../testing/scripted-server.ts'
import { connectHttp } from './connect-node.ts'
import { HttpError } from './http-error.ts'

const closed = (): Response => Response.json(rpcResult())
const refuse = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' }))
const unavailable = { jsonrpc: '2.0', id: rpcRequest().id, error: { code: -32603, message: 'stopping' } }

test.each<[string, () => Response | Promise<Response>, string]>([
  ['that answers', closed, 'open'],
  ['that refuses a request by a status', () => new Response('large', { status: 413 }), 'open'],
  ['that answers 503 itself', () => Response.json(unavailable, { status: 503 }), 'open'],
  ['behind a balancer that answers 503', () => new Response('down', { status: 503 }), 'restarting'],
  ['at which nothing listens', refuse, 'restarting'],
  ['that wants a token', () => new Response('', { status: 401 }), 'login_needed'],
])('the state of a server %s', async (_title, answer, expected) => {
  let next = closed as typeof answer
  await using connection = connectHttp('https://example.com/mcp', { retry: false, fetch: async () => next() })
  expect(connection.state.status).toBe('connecting')
  const seen: string[] = []
  connection.onStateChange(({ status }) => seen.push(status))
  await connection.exchange(rpcRequest(), callWith())
  next = answer
  await connection.exchange(rpcRequest(), callWith()).catch(() => {})
  const { status, reason } = connection.state
  expect([status, reason === undefined]).toEqual([expected, expected === 'open'])
  next = closed
  await connection.exchange(rpcRequest(), callWith())
  await connection.close()
  expect(seen).toEqual(['open', ...(expected === 'open' ? [] : [expected, 'open']), 'closed'])
})

const notFound = (id: string): Response =>
  Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }, { status: 404 })

test.each<[string, (id: string) => Response, string[]]>([
  ['a wrong path', () => new Response('not here', { status: 404 }), ['connecting']],
  ['a web page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), ['connecting']],
  ['a redirect to another place', () => Response.redirect('https://other.example/', 307), ['connecting']],
  ['an error of the server', notFound, ['open']],
])('the first answer is %s', async (_title, answer, expected) => {
  let next = answer
  const fetch = async (_url: unknown, init?: { body?: unknown }) => next(JSON.parse(String(init?.body)).id)
  await using connection = connectHttp('https://example.com/mcp', { retry: false, fetch })
  const seen: string[] = []
  connection.onStateChange(({ status }) => seen.push(status))
  await connection.exchange(rpcRequest(), callWith()).catch(() => {})
  expect([[...seen], connection.state.reason === undefined]).toEqual([expected, expected[0] === 'open'])
  next = closed
  await connection.exchange(rpcRequest(), callWith())
  expect(connection.state.status).toBe('open')
})

test('a response that breaks off is a lost connection, and a call that its caller gives up is not', async () => {
  await using server = await scriptedServer(createJsonAnswer(rpcResult()))
  await using connection = connectHttp(server.url)
  await connection.exchange(rpcRequest(), callWith())
  const controller = new AbortController()
  const given = connection.exchange(rpcRequest(), callWith(controller.signal))
  controller.abort('enough')
  await expect(given).rejects.toBe('enough')
  expect(connection.state.status).toBe('open')
})

test.each<[string, Partial<HttpError>, boolean]>([
  ['refused', {}, false],
  ['timeout', {}, true],
  ['status', { status: 401 }, false],
  ['status', { status: 413 }, false],
  ['status', { status: 502 }, true],
  ['closed', {}, true],
])('an error %s %j may have been preceded by the work: %s', (code, details, expected) => {
  const error = new HttpError(code as HttpError['code'], 'failed', { origin: 'https://example.com', ...details })
  expect(error.mayHaveRun).toBe(expected)
})
