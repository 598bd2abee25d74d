import { createLedger, isLimitError } from '@x/core'
import { expect, test } from 'vitest'
import { toWire } from '@x/schema'
import { limitErrorToMcp, unavailableError } from './rejections.ts'

/** Returns the wire form of the error of taking one call more than the bounds allow. */
function reachedBound(bound: { perCaller: number; total: number }): unknown {
  const ledger = createLedger({}, { calls: bound })
  ledger.take('calls', 'a')
  try {
    ledger.take('calls', 'a')
  } catch (error) {
    if (isLimitError(error)) return toWire(limitErrorToMcp(error))
    throw error
  }
  return undefined
}

test("a caller's own bound is a quota error that names the kind", () => {
  const data = { reason: 'quota', limit: 'calls', max: 1, retryAfterMs: 1000 }
  expect(reachedBound({ perCaller: 1, total: 10 })).toMatchObject({ code: -32603, data })
})

test('the bound for all callers is an overload that names the kind', () => {
  const data = { reason: 'overloaded', limit: 'calls', max: 1, retryAfterMs: 1000 }
  expect(reachedBound({ perCaller: 10, total: 1 })).toMatchObject({ code: -32603, data })
})

test('the error for an unreachable part does not name the part, and says whether the handler had begun', () => {
  const error = unavailableError({ begun: false, retryAfterMs: 500, cause: new Error('postgres://secret') })
  const data = { reason: 'unavailable', retryAfterMs: 500, begun: false }
  expect(toWire(error)).toEqual({ code: -32603, message: expect.stringContaining('has not begun'), data })
  expect(JSON.stringify(toWire(error))).not.toContain('secret')
})
