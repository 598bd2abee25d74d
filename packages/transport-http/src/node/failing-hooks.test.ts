import type { Exchange } from '@x/exchange'
import { expect, test, vi } from 'vitest'
import { echo, testServer } from '../testing/exchanges.ts'
import { bodyOf, connectRaw, headOf } from '../testing/raw.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveHttp } from './serve-http.ts'
import type { ServeHttpOptions } from './serve-options.ts'

const failure = new Error('a function of the application failed')
const throwFailure = (): never => {
  throw failure
}
const rejectFailure = (): never => Promise.reject(failure) as never

// Each row is a function of the application that fails, and the status of the request. Vitest fails a run in which a
// rejection is handled by no code, as such a rejection ends a process.
test.each<[string, ServeHttpOptions, number]>([
  ['onRequest throws', { onRequest: throwFailure }, 500],
  ['onRequest rejects', { onRequest: rejectFailure }, 500],
  ['auth throws', { auth: throwFailure }, 500],
  ['auth rejects', { auth: rejectFailure }, 500],
  ['clientAddress throws', { clientAddress: throwFailure }, 500],
  ['clientAddress rejects', { clientAddress: rejectFailure }, 500],
  ['toHttpError throws', { auth: { authenticate: () => undefined, toHttpError: throwFailure } }, 200],
  ['toHttpError rejects', { auth: { authenticate: () => undefined, toHttpError: rejectFailure } }, 200],
])('if %s, one request fails, one line is logged, and the server goes on [ROB-003]', async (_, options, status) => {
  const log = vi.fn()
  const failing: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'failed' } })
  await using http = await serveHttp(testServer(failing, { log }), options)
  // So long a body arrives in pieces, which are counted for the address of the client.
  const raw = connectRaw(http.port)
  const body = bodyOf('tools/list', 1, `"padding":"${'x'.repeat(300_000)}",`)
  raw.send(headOf('tools/list', [`Content-Length: ${body.length}`]) + body)
  expect(await raw.readUntil('}')).toContain(`HTTP/1.1 ${status}`)
  raw.socket.destroy()
  expect(log).toHaveBeenCalledOnce()
  expect((await fetch(`http://127.0.0.1:${http.port}/healthz`)).status).toBe(200)
})

test('onRequest may decide asynchronously, and an answer that it has begun is cut off if it fails [ROB-003]', async () => {
  const log = vi.fn()
  await using http = await serveHttp(testServer(echo, { log }), {
    onRequest: async ({ url }, response) => {
      if (url !== '/page') return false
      response.writeHead(200).write('half a page')
      throw failure
    },
  })
  const sent = createPostRequest('tools/list')
  const { host: _, ...headers } = sent.headers
  const answered = await fetch(http.url, { method: 'POST', headers, body: String(sent.body) })
  expect(answered.status).toBe(200)
  await expect(fetch(`http://127.0.0.1:${http.port}/page`).then((page) => page.text())).rejects.toThrow('terminated')
  expect(log).toHaveBeenCalledOnce()
})
