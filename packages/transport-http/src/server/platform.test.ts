import { type Call, type Exchange, type Platform, platformKey, serverOf } from '@x/exchange'
import { expect, test, vi } from 'vitest'
import { createPostRequest } from '../testing/sent.ts'
import { httpHandler } from './http-handler.ts'

/** Serves a request, and returns the platform that the exchange finds. */
async function findPlatform(...rest: [env?: unknown, execution?: { waitUntil(promise: Promise<unknown>): void }]) {
  const found: (Platform | undefined)[] = []
  const exchange: Exchange = async ({ id }, call: Call) => {
    found.push(call.context.get(platformKey))
    return { jsonrpc: '2.0', id, result: { resultType: 'complete' } }
  }
  const server = serverOf(exchange, { info: { name: 'platform', version: '1.0.0' }, localOnly: undefined })
  const { method, headers, path, body } = createPostRequest('tools/list')
  const request = new Request(`http://localhost${path}`, { method, headers, body: String(body) })
  const response = await httpHandler(server)(request, ...rest)
  expect(response.status).toBe(200)
  return found[0]
}

test('an exchange gets the bindings of a Worker, and its waitUntil', async () => {
  const waitUntil = vi.fn()
  const platform = await findPlatform({ KEY: 'value' }, { waitUntil })
  const work = Promise.resolve()
  platform?.waitUntil(work)
  expect([platform?.env, waitUntil.mock.calls]).toEqual([{ KEY: 'value' }, [[work]]])
})

test('a platform without waitUntil handles the rejection of work after the response', async () => {
  const platform = await findPlatform({ remoteAddr: { hostname: '192.0.2.1' } })
  platform?.waitUntil(Promise.reject(new Error('after the response')))
  expect(platform?.env).toEqual({ remoteAddr: { hostname: '192.0.2.1' } })
})

test('a request without values of a platform has none', async () => {
  expect(await findPlatform()).toBeUndefined()
})
