import { expect, test } from 'vitest'
import { createPlan } from './plan.ts'

function planArrivals(seed: number, count: number, perSecond = 2) {
  const next = createPlan(seed)
  return Array.from({ length: count }, () => next(perSecond))
}

test('the same seed gives the same calls, another one gives others', () => {
  expect(planArrivals(7, 50)).toEqual(planArrivals(7, 50))
  expect(planArrivals(8, 50)).not.toEqual(planArrivals(7, 50))
})

test('so many calls come in a second as are asked for, one in four of them heavy, and they come unevenly', () => {
  const plan = planArrivals(1, 4000)
  const pauses = plan.map(({ afterMs }) => afterMs)
  const mean = pauses.reduce((sum, pause) => sum + pause, 0) / pauses.length
  expect(mean).toBeGreaterThan(450)
  expect(mean).toBeLessThan(550)
  const heavyShare = plan.filter(({ job }) => job.size === 'heavy').length / plan.length
  expect(heavyShare).toBeGreaterThan(0.22)
  expect(heavyShare).toBeLessThan(0.28)
  expect(pauses.filter((pause) => pause < 100).length).toBeGreaterThan(500)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(2000)
})
