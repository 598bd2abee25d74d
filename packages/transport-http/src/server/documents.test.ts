import type { Exchange } from '@x/exchange'
import { errorCodes } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import { documentHandler } from '../index.ts'
import { documentHandler as nodeDocumentHandler, serveHttp } from '../node.ts'
import { echo, testServer } from '../testing/exchanges.ts'
import { connectRaw } from '../testing/raw.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const path = '/.well-known/oauth-protected-resource/mcp'
const documents = { [path]: { body: { resource: 'https://mcp.example.com/mcp' } } }
const authenticate = () => undefined
const auth = { authenticate, documents }
const get = { method: 'GET', path, headers: { host: 'elsewhere.example' } }

describe.each(serveFunctions)('%s', (_, serve) => {
  test('a document is served as JSON to every client, without the exchange and without authentication [AUE-001]', async () => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange, {
      auth: { ...auth, authenticate: () => ({ status: 401, message: 'no' }) },
    })
    const { status, headers, body } = await handler.send(get)
    expect([status, headers.get('content-type'), JSON.parse(body)]).toEqual([
      200,
      'application/json',
      { resource: 'https://mcp.example.com/mcp' },
    ])
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect((await handler.send({ ...get, path: `${path}?a=b` })).status).toBe(200)
    expect((await handler.send({ ...get, path: `${path}/` })).status).toBe(403)
    expect(exchange).not.toHaveBeenCalled()
  })

  test('pages of every origin may read a document, also when their browser asks first', async () => {
    await using handler = await serve(echo, { auth })
    const origin = { ...get.headers, origin: 'https://app.example' }
    const read = await handler.send({ ...get, headers: origin })
    expect(read.headers.get('access-control-allow-origin')).toBe('*')
    const asked = await handler.send({ ...get, method: 'OPTIONS', headers: origin })
    expect([asked.status, asked.headers.get('access-control-allow-headers')]).toEqual([204, '*'])
  })

  test('an error that toHttpError converts has its status and headers, and is still the body', async () => {
    const error = { code: errorCodes.invalidRequest, message: 'no', data: { reason: 'insufficient_scope' } }
    const exchange: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, error })
    const toHttpError = vi.fn(() => ({ status: 403, headers: { 'WWW-Authenticate': 'Bearer' } }))
    await using handler = await serve(exchange, { auth: { authenticate, toHttpError } })
    const { status, headers, body } = await handler.send(createPostRequest('tools/list'))
    expect([status, headers.get('www-authenticate'), JSON.parse(body)]).toEqual([
      403,
      'Bearer',
      { jsonrpc: '2.0', id: 1, error },
    ])
    const request = expect.objectContaining({ id: 1, method: 'tools/list' })
    expect(toHttpError).toHaveBeenCalledExactlyOnceWith(error, {
      request,
      principal: undefined,
      log: expect.any(Function),
    })
  })

  test('an error after a notification keeps to the stream, whose head is out', async () => {
    const exchange: Exchange = async ({ id }, call) => {
      call.notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
      return { jsonrpc: '2.0', id, error: { code: errorCodes.invalidRequest, message: 'no' } }
    }
    const toHttpError = vi.fn(() => ({ status: 403 }))
    await using handler = await serve(exchange, { auth: { authenticate, toHttpError } })
    const { status, body } = await handler.send(createPostRequest('tools/list'))
    expect([status, body.includes('"message":"no"')]).toEqual([200, true])
    // Its log gets the error all the same.
    expect(toHttpError).toHaveBeenCalledOnce()
  })

  test('errors that toHttpError leaves out keep their status, and a failing toHttpError is a failure', async () => {
    const exchange: Exchange = async ({ id }) => ({
      jsonrpc: '2.0',
      id,
      error: { code: errorCodes.methodNotFound, message: 'no' },
    })
    await using handler = await serve(exchange, { auth: { authenticate, toHttpError: () => undefined } })
    expect((await handler.send(createPostRequest('tools/list'))).status).toBe(404)
    const log = vi.fn()
    const failing = () => {
      throw new Error('broken')
    }
    await using broken = await serve(exchange, { auth: { authenticate, toHttpError: failing } }, { log })
    const internal = await broken.send(createPostRequest('tools/list'))
    expect([internal.status, JSON.parse(internal.body)]).toMatchObject([200, { error: { code: errorCodes.internal } }])
    expect(log).toHaveBeenCalledOnce()
    // A message that reaches no exchange keeps its own error.
    const malformed = await broken.send({ ...createPostRequest('tools/list'), body: '{' })
    expect([malformed.status, JSON.parse(malformed.body)]).toMatchObject([400, { error: { code: errorCodes.parse } }])
    expect(log).toHaveBeenCalledTimes(2)
  })

  test('a path that is not well-formed is refused by name', async () => {
    const withDocuments = { authenticate, documents: { 'a.json': { body: {} } } }
    await expect(serve(echo, { auth: withDocuments })).rejects.toThrow('documents has "a.json"')
  })

  test('an auth that cannot authenticate is rejected when the handler is made', async () => {
    await expect(serve(echo, { auth: { documents } as never })).rejects.toThrow('auth has no authenticate: give what')
  })
})

test('a server of its own has documents beside its endpoint, and everything else is not found', async () => {
  await using http = await serveHttp(testServer(echo), { auth })
  const url = new URL(http.url)
  const read = await fetch(new URL(path, url))
  expect([read.status, await read.json()]).toEqual([200, { resource: 'https://mcp.example.com/mcp' }])
  const head = await fetch(new URL(path, url), { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const posted = await fetch(new URL(path, url), { method: 'POST', body: '{}' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  expect((await fetch(new URL('/.well-known/other', url))).status).toBe(404)
})

test('a document handler leaves every other path to others', async () => {
  const handle = documentHandler({ documents })
  expect(handle(new Request('https://mcp.example.com/other'))).toBeUndefined()
  expect(await handle(new Request(`https://mcp.example.com${path}`))?.json()).toEqual(documents[path]?.body)
  const handleNode = nodeDocumentHandler({ documents })
  const server = createServer((request, response) => {
    if (!handleNode(request, response)) response.writeHead(418).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect([(await fetch(base + path)).status, (await fetch(`${base}/other`)).status]).toEqual([200, 418])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('auth gets both of two headers of which Node would drop one', async () => {
  const seen: unknown[] = []
  await using http = await serveHttp(testServer(echo), {
    auth(request) {
      seen.push(request.headerValues('authorization'), request.headerValues('x-none'))
      return { status: 400, message: 'two' }
    },
  })
  const raw = connectRaw(http.port)
  const head =
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n'
  raw.send(
    `${head}Accept: application/json, text/event-stream\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n{}`,
  )
  expect((await raw.waitForClose()).split(' ')[1]).toBe('400')
  expect(seen).toEqual([['Bearer a', 'Bearer b'], []])
})
