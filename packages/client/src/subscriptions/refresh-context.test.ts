import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { flushPromises } from '../testing/asking.ts'
import { debounceWork } from './refresh-context.ts'

function start() {
  const clock = manualClock()
  const runs: { finish: () => void; fail: (error: unknown) => void }[] = []
  const errors: unknown[] = []
  const work = (): Promise<void> => new Promise((finish, fail) => void runs.push({ finish, fail }))
  const debounced = debounceWork(work, (error) => errors.push(error), { jitterMs: 100, clock })
  return { clock, runs, errors, soon: debounced }
}

test('work that is wanted often is done once, within its time', async () => {
  const { clock, runs, soon: debounced } = start()
  for (let count = 0; count < 10; count += 1) debounced.schedule()
  expect([runs.length, clock.waiting]).toEqual([0, 1])
  clock.advance(100)
  expect([runs.length, clock.waiting]).toEqual([1, 0])
})

test('work that is wanted while it runs is done once more, also when it failed', async () => {
  const { clock, runs, errors, soon: debounced } = start()
  debounced.schedule()
  clock.advance(100)
  for (let count = 0; count < 10; count += 1) debounced.schedule()
  clock.advance(1000)
  expect(runs).toHaveLength(1)
  runs[0]?.fail('broken')
  await flushPromises()
  clock.advance(100)
  expect([runs.length, errors]).toEqual([2, ['broken']])
  runs[1]?.finish()
  await flushPromises()
  clock.advance(1000)
  expect(runs).toHaveLength(2)
})

test('no work begins after the stop', async () => {
  const { clock, runs, soon: debounced } = start()
  debounced.schedule()
  debounced.stop()
  expect(clock.waiting).toBe(0)
  debounced.schedule()
  clock.advance(1000)
  const other = start()
  other.soon.schedule()
  other.clock.advance(100)
  other.soon.schedule()
  other.soon.stop()
  other.runs[0]?.finish()
  await flushPromises()
  other.clock.advance(1000)
  expect([runs.length, other.runs.length, other.clock.waiting]).toEqual([0, 1, 0])
})
