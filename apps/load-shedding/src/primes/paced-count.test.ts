import { expect, test } from 'vitest'
import { createPacedCount, type PacedWork } from './paced-count.ts'
import { countChunk, emptyTally } from './tally.ts'

test('a paced count returns the right tally, blocks the event loop for its time, and reports every tenth chunk', () => {
  const reports: PacedWork[] = []
  const count = createPacedCount(2, (work) => reports.push(work))
  const startedAt = performance.now()
  let tally = emptyTally
  for (let chunk = 0; chunk < 20; chunk++) tally = count(tally, 10_001)
  // The tolerance of 5 ms covers the rounding of clocks.
  expect(performance.now() - startedAt).toBeGreaterThan(20 * 2 - 5)
  expect(tally).toEqual(countChunk(emptyTally, 10_001))
  expect(reports.map(({ chunks }) => chunks)).toEqual([10, 10])
})
