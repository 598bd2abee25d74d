import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { StdioError } from '../stdio-error.ts'
import { RestartPolicy } from './restart-policy.ts'

const crash = new StdioError('exited', 'it crashed', { exitCode: 1, stderr: 'out of memory' })

test('the pause doubles with each end in a row', () => {
  const clock = manualClock()
  const row = new RestartPolicy(undefined, clock)
  const pauses = [row.computePauseMs()]
  for (let ends = 0; ends < 4; ends++) {
    row.recordExit(crash, clock.monotonicNow())
    pauses.push(row.computePauseMs())
  }
  expect(pauses).toEqual([0, 100, 200, 400, 800])
})

test('time that has passed since the end counts as pause', () => {
  const clock = manualClock()
  const row = new RestartPolicy(undefined, clock)
  row.recordExit(crash, 0)
  clock.advance(70)
  expect(row.computePauseMs()).toBe(30)
  clock.advance(70)
  expect(row.computePauseMs()).toBe(0)
})

test('an end after a minute counts as the first one', () => {
  const clock = manualClock()
  const row = new RestartPolicy(undefined, clock)
  row.recordExit(crash, clock.monotonicNow())
  row.recordExit(crash, clock.monotonicNow())
  const startedAt = clock.monotonicNow()
  clock.advance(60_000)
  row.recordExit(crash, startedAt)
  expect(row.computePauseMs()).toBe(100)
})

test.each([
  ['five ends', undefined, 5],
  ['one end with restart: false', false, 1],
] as const)(
  'after %s in a row the process is not started again, and the error gives the last cause',
  (_, restart, limit) => {
    const row = new RestartPolicy(restart, manualClock())
    for (let ends = 0; ends < limit; ends++) {
      expect(() => row.computePauseMs()).not.toThrow()
      row.recordExit(crash, 0)
    }
    expect(() => row.computePauseMs()).toThrow(
      expect.objectContaining({ code: 'restarts', cause: crash, exitCode: 1, stderr: 'out of memory' }),
    )
  },
)
