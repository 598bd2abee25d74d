import { HttpError } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { createGateway, errorOf } from '../testing/gateway-kit.ts'
import { createScriptedUpstream } from '../testing/scripted-upstream.ts'

const failWith = (status: number, retryAfterMs?: number) => {
  const error = new HttpError('status', `answered ${status}`, { origin: 'https://x.test', status, retryAfterMs })
  const server = createGateway({ crm: createScriptedUpstream({ answer: () => Promise.reject(error) }) })
  return { server, fail: () => errorOf(server, 'tools/call', { name: 'crm__add' }) }
}

test.each([
  ['has no answer', 503, 5000, { begun: true, retryAfterMs: 5000 }],
  ['has no answer, and is sooner there again than a process is', 503, 0, { begun: true, retryAfterMs: 100 }],
  ['has too many calls', 429, 5000, { begun: false, retryAfterMs: 5000, reason: 'refused' }],
  ['has too many calls, and does not say until when', 429, undefined, { begun: false, reason: 'refused' }],
])('an upstream that %s is called again no sooner than it asks', async (_, status, retryAfterMs, data) => {
  const { server, fail } = failWith(status, retryAfterMs)
  expect(await fail()).toHaveProperty('data', { ...data, upstream: 'crm' })
  await server.close()
})

test('an unreachable upstream is called again no sooner than it asks', async () => {
  const { server, fail } = failWith(503, 5000)
  const unreachable = { message: 'Upstream "crm" is unreachable: HTTP 503', data: { retryAfterMs: 5000 } }
  await expect.poll(fail).toMatchObject(unreachable)
  await server.close()
})
