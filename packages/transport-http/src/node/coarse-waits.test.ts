import { expect, test, vi } from 'vitest'
import { handClock } from '../testing/hand-clock.ts'
import { createCoarseSchedule } from './coarse-schedule.ts'

test('a long wait ends once, no sooner than it should and at most two ticks later', () => {
  const clock = handClock()
  const schedule = createCoarseSchedule(clock.schedule)
  const run = vi.fn()
  clock.advance(300)
  schedule(run, 15_000)
  clock.advance(14_999)
  expect(run).not.toHaveBeenCalled()
  clock.advance(2_001)
  expect(run).toHaveBeenCalledOnce()
  clock.advance(60_000)
  expect(run).toHaveBeenCalledOnce()
})

test('a short wait is as exact as the clock below', () => {
  const clock = handClock()
  const run = vi.fn()
  createCoarseSchedule(clock.schedule)(run, 500)
  clock.advance(500)
  expect(run).toHaveBeenCalledOnce()
})

test('any number of waits share one timer, which is not renewed when none is left', () => {
  const clock = handClock()
  const schedule = createCoarseSchedule(clock.schedule)
  const run = vi.fn()
  const cancels = Array.from({ length: 100 }, () => schedule(run, 20_000))
  expect(clock.waiting()).toBe(1)
  for (const cancel of [...cancels, ...cancels]) cancel()
  clock.advance(1_000)
  expect(clock.waiting()).toBe(0)
  clock.advance(60_000)
  expect(run).not.toHaveBeenCalled()
})

test('what runs may wait again', () => {
  const clock = handClock()
  const schedule = createCoarseSchedule(clock.schedule)
  let count = 0
  const again = () => {
    count += 1
    if (count < 5) schedule(again, 10_000)
  }
  schedule(again, 10_000)
  clock.advance(61_000)
  expect(count).toBe(5)
  expect(clock.waiting()).toBe(0)
})
