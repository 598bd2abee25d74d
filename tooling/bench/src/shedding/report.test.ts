import { expect, test } from 'vitest'
import { reportLines, type SheddingMeasurement } from './report.ts'

const one: SheddingMeasurement = { completed: 40, lost: 0, moved: 9, chunks: 100, repeated: 0, p50Ms: 500, p99Ms: 1000 }

test('counts are summed, and ratios are formed within a round, so that a slow round has no effect on them', () => {
  const rounds = [
    { with: one, without: { ...one, lost: 3, moved: 0, repeated: 7, p99Ms: 3000 } },
    { with: { ...one, p99Ms: 10_000 }, without: { ...one, lost: 4, moved: 0, p99Ms: 40_000 } },
    { with: one, without: { ...one, moved: 0, p99Ms: 5000 } },
  ]
  expect(reportLines(rounds)).toEqual([
    'without shedding  p50 0.50 s  p99 5.00 s  120 calls completed  7 lost  0 moves  7 of 300 chunks of work done twice',
    'with shedding     p50 0.50 s  p99 1.00 s  120 calls completed  0 lost  27 moves  0 of 300 chunks of work done twice',
    'without / with: p50 1.0 x, p99 4.0 x',
  ])
})

test('a report of no rounds is an error', () => {
  expect(() => reportLines([])).toThrow('pass at least one round')
})
