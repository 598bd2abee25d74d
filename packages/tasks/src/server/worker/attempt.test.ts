import { runtimeOf } from '@x/core'
import { errorCodes } from '@x/schema'
import { expect, test } from 'vitest'
import { Attempt, type AttemptStop, type WorkerContext } from './attempt.ts'

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

/** Creates an attempt that needs nothing of its worker but the clock. */
function createAttempt(): Attempt {
  const context = { settings: { clock: runtimeOf() } } as unknown as WorkerContext
  return new Attempt(claimed, context, new AbortController().signal)
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
    const attempt = createAttempt()
    for (const kind of order) attempt.stop(stops[kind])
    expect([attempt.stopReason, attempt.signal.aborted]).toEqual([stops[winner], true])
  }
})

test.each(Object.values(stops))('a claim that has ended is no longer $kind', (stop) => {
  const attempt = createAttempt()
  attempt.endClaim()
  attempt.stop(stop)
  expect([attempt.stopReason, attempt.signal.aborted]).toEqual([undefined, false])
})
