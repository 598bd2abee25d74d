import { errorCodes } from '@x/schema'
import { expect, test } from 'vitest'
import { type AttemptStop, endClaim, openAttempt, stopAttempt } from './attempt.ts'

const claimed = {
  id: '1',
  attempt: 1,
  token: 'token',
  failures: 0,
  waitedMs: 0,
  payload: {},
  entries: [],
  responses: {},
  isCancelling: false,
}

const stops = {
  lost: { kind: 'lost' },
  too_large: { kind: 'too_large', error: { code: errorCodes.internal, message: 'too large' } },
  cancelled: { kind: 'cancelled' },
  released: { kind: 'released' },
} as const satisfies Readonly<Record<AttemptStop['kind'], AttemptStop>>

test.each([
  ['lost', 'too_large', 'lost'],
  ['lost', 'cancelled', 'lost'],
  ['lost', 'released', 'lost'],
  ['too_large', 'cancelled', 'too_large'],
  ['too_large', 'released', 'too_large'],
  ['cancelled', 'released', 'cancelled'],
] as const)('an attempt that is %s and %s, in either order, ends as %s', (one, other, winner) => {
  for (const order of [
    [one, other],
    [other, one],
  ] as const) {
    const attempt = openAttempt(claimed, new AbortController().signal)
    for (const kind of order) stopAttempt(attempt, stops[kind])
    expect([attempt.stop, attempt.controller.signal.aborted]).toEqual([stops[winner], true])
  }
})

test.each(Object.values(stops))('a claim that has ended is no longer $kind', (stop) => {
  const attempt = openAttempt(claimed, new AbortController().signal)
  endClaim(attempt)
  stopAttempt(attempt, stop)
  expect([attempt.stop, attempt.controller.signal.aborted]).toEqual([undefined, false])
})
