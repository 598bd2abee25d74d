import type { ServerEvent } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { echo, testServer } from '../testing/exchanges.ts'
import { createPostRequest, type PostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'
import type { HandlerOptions } from './handler-settings.ts'

const canary = 'canary-of-a-refused-request'
const post = (headers: Readonly<Record<string, string | null>> = {}, params = {}): PostRequest =>
  createPostRequest('tools/list', params, { headers })
const wrongUser: HandlerOptions<unknown> = {
  auth: () => ({ status: 401, message: 'A token is required' }),
}

describe.each(serveFunctions)('%s', (_, serve) => {
  test.each<[string, PostRequest, number, string, HandlerOptions<unknown>?]>([
    ['a foreign host', post({ host: `${canary}.test` }), 403, 'host'],
    ['a foreign origin', post({ origin: `https://${canary}.test` }), 403, 'origin'],
    ['another media type', post({ 'content-type': `text/${canary}` }), 415, 'media_type'],
    ['a header unlike the body', post({ 'mcp-method': canary }), 400, 'headers'],
    ['a body that is too large', post({}, { text: canary.repeat(100) }), 413, 'size', { maxBodyBytes: 1000 }],
    ['a body that is not JSON', { ...post(), body: `{"${canary}` }, 400, 'syntax'],
    ['a caller without a token', post({ authorization: canary }), 401, 'authentication', wrongUser],
  ])(
    'reports %s to observers, without a value of the caller [OPS-001]',
    async (_title, sent, status, reason, options) => {
      const events: ServerEvent[] = []
      await using endpoint = await serve(testServer(echo, { emit: (event) => void events.push(event) }), options)
      expect((await endpoint.send(sent)).status).toBe(status)
      expect(events).toEqual([{ type: 'request_refused', transport: 'http', status, reason }])
    },
  )

  test('reports no request that the server receives', async () => {
    const events: ServerEvent[] = []
    await using endpoint = await serve(testServer(echo, { emit: (event) => void events.push(event) }))
    expect((await endpoint.send(post())).status).toBe(200)
    expect(events).toEqual([])
  })
})
