import type { JsonValue } from '@x/schema'
import { expect, test } from 'vitest'
import { ClientError } from './client-error.ts'
import { retryAfterMsOf } from './permanent-failure.ts'

const context = { method: 'tools/call', target: 'greet', server: undefined }

test.each<[JsonValue | undefined, number]>([
  [{ reason: 'overloaded', retryAfterMs: 250 }, 250],
  [{ reason: 'overloaded', retryAfterMs: -1 }, 0],
  [{ reason: 'overloaded', retryAfterMs: '250' }, 0],
  ['250', 0],
  [null, 0],
  [undefined, 0],
])('an error with the data %j asks for a pause of %i ms', (data, pauseMs) => {
  const rpc = { code: -32_603, message: 'no', data }
  expect(retryAfterMsOf(new ClientError('rpc', 'no', { ...context, rpc }))).toBe(pauseMs)
})

test('a failed HTTP response asks for the pause of its header', () => {
  const cause = Object.assign(new Error('503'), { retryAfterMs: 2000 })
  expect(retryAfterMsOf(new ClientError('transport', 'no', { ...context, cause }))).toBe(2000)
  expect(retryAfterMsOf(new ClientError('timeout', 'no', context))).toBe(0)
})
