import { expect, test, vi } from 'vitest'
import { addToList, removeFromList } from '../indexed-list.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { createTimerWheel } from './node-handler.ts'

type WheelEntry = Parameters<typeof createTimerWheel>[0][number]

/** Makes waits, and a way to begin one. */
function waits(due: (waiting: WheelEntry) => void = () => {}) {
  const clock = createManualClock()
  const entries: WheelEntry[] = []
  const wait = createTimerWheel(entries, clock.schedule, due)
  const begin = (ms: number): WheelEntry => {
    const waiting = { index: -1, dueTick: 0 }
    addToList(entries, waiting)
    wait(waiting, ms)
    return waiting
  }
  return { clock, entries, wait, begin }
}

test('a wait ends once, no sooner than it should and at most two ticks later', () => {
  const due = vi.fn()
  const { clock, begin } = waits(due)
  clock.advance(700)
  const waiting = begin(15_000)
  clock.advance(14_999)
  expect(due).not.toHaveBeenCalled()
  clock.advance(2_001)
  expect(due.mock.calls).toEqual([[waiting]])
  clock.advance(60_000)
  expect(due).toHaveBeenCalledTimes(1)
})

test('any number of waits share one timer, which ends with the last of them', () => {
  const due = vi.fn()
  const { clock, entries, begin } = waits(due)
  const all = Array.from({ length: 100 }, () => begin(20_000))
  expect(clock.countTimers()).toBe(1)
  for (const waiting of all.slice(1)) removeFromList(entries, waiting)
  clock.advance(30_000)
  expect(due.mock.calls).toEqual([[all[0]]])
  for (const waiting of entries.slice()) removeFromList(entries, waiting)
  clock.advance(1_000)
  expect(clock.countTimers()).toBe(0)
  begin(20_000)
  expect(clock.countTimers()).toBe(1)
})

test('an entry that was due may wait again', () => {
  let count = 0
  const { clock, begin, wait } = waits((waiting) => {
    count += 1
    if (count < 5) wait(waiting, 10_000)
  })
  begin(10_000)
  clock.advance(100_000)
  expect(count).toBe(5)
})

test('an entry that is removed while others are due is skipped', () => {
  const seen: WheelEntry[] = []
  const { clock, entries, begin } = waits((waiting) => {
    seen.push(waiting)
    for (const other of entries.filter((each) => each !== waiting)) removeFromList(entries, other)
  })
  const first = begin(10_000)
  begin(10_000)
  clock.advance(20_000)
  expect(seen).toEqual([first])
})
