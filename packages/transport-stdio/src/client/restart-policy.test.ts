import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { StdioError } from '../stdio-error.ts'
import { createRestartPolicy } from './restart-policy.ts'

const crash = new StdioError('exited', 'it crashed', { exitCode: 1, stderr: 'out of memory' })

test('the pause grows with each end in a row, up to the longest one', () => {
  const clock = manualClock()
  const row = createRestartPolicy({ limit: 10, pauseMs: 100, maxPauseMs: 1000 }, clock)
  const pauses = [row.computePauseMs()]
  for (let ends = 0; ends < 6; ends++) {
    row.recordExit(crash, clock.monotonicNow())
    pauses.push(row.computePauseMs())
  }
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1000, 1000])
})

test('time that has passed since the end counts as pause', () => {
  const clock = manualClock()
  const row = createRestartPolicy({ pauseMs: 100 }, clock)
  row.recordExit(crash, 0)
  clock.advance(70)
  expect(row.computePauseMs()).toBe(30)
  clock.advance(70)
  expect(row.computePauseMs()).toBe(0)
})

test('a process that ran for long ends the row', () => {
  const clock = manualClock()
  const row = createRestartPolicy({ limit: 3, pauseMs: 100, healthyAfterMs: 60_000 }, clock)
  row.recordExit(crash, clock.monotonicNow())
  row.recordExit(crash, clock.monotonicNow())
  const startedAt = clock.monotonicNow()
  clock.advance(60_000)
  row.recordExit(crash, startedAt)
  expect(row.computePauseMs()).toBe(100)
})

test.each([
  ['five by default', {}, 5],
  ['as many as are allowed', { limit: 2 }, 2],
  ['one when there is to be no restart', false, 1],
] as const)('after %s, the error says that it is given up, and why', (_, options, limit) => {
  const row = createRestartPolicy(options, manualClock())
  for (let ends = 0; ends < limit; ends++) {
    expect(() => row.computePauseMs()).not.toThrow()
    row.recordExit(crash, 0)
  }
  expect(() => row.computePauseMs()).toThrow(
    expect.objectContaining({ code: 'restarts', cause: crash, exitCode: 1, stderr: 'out of memory' }),
  )
})
