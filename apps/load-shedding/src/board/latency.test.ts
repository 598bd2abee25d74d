import { expect, test } from 'vitest'
import { quantile, timingOf } from './latency.ts'

test.each([
  [[], 0.5, null],
  [[7], 0.5, 7],
  [[7], 0.99, 7],
  [[3, 1, 2], 0.5, 2],
  [[4, 3, 2, 1], 0.5, 2],
  [Array.from({ length: 100 }, (_, index) => 100 - index), 0.99, 99],
  [Array.from({ length: 101 }, (_, index) => index + 1), 0.99, 100],
])('of %j, the quantile %d is %j', (values, share, expected) => {
  expect(quantile(values, share)).toBe(expected)
})

test('calls that completed outside of the period do not count', () => {
  const completions = [1000, 1500, 2000, 2500].map((at, index) => ({ at, latencyMs: (index + 1) * 10 }))
  expect(timingOf(completions, 1000, 2000)).toEqual({ perSecond: 2, p50Ms: 20, p99Ms: 30 })
  expect(timingOf(completions, 2500, 3500)).toEqual({ perSecond: 0, p50Ms: null, p99Ms: null })
})
