import { expect, test } from 'vitest'
import { createPlan } from './plan.ts'

function planArrivals(seed: number, count: number, perSecond = 2) {
  const next = createPlan(seed)
  return Array.from({ length: count }, () => next(perSecond))
}

test('a seed determines the calls', () => {
  expect(planArrivals(7, 50)).toEqual(planArrivals(7, 50))
  expect(planArrivals(8, 50)).not.toEqual(planArrivals(7, 50))
})

test('calls arrive at the given mean rate and at random intervals, and one in four is heavy', () => {
  const plan = planArrivals(1, 4000)
  const intervals = plan.map(({ afterMs }) => afterMs)
  const mean = intervals.reduce((sum, interval) => sum + interval, 0) / intervals.length
  expect(mean).toBeGreaterThan(450)
  expect(mean).toBeLessThan(550)
  const heavyShare = plan.filter(({ job }) => job.size === 'heavy').length / plan.length
  expect(heavyShare).toBeGreaterThan(0.22)
  expect(heavyShare).toBeLessThan(0.28)
  expect(intervals.filter((interval) => interval < 100).length).toBeGreaterThan(500)
  expect(Math.max(...intervals)).toBeLessThanOrEqual(2000)
})
