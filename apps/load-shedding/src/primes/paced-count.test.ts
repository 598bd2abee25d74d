import { expect, test } from 'vitest'
import { createPacedCount, type PacedWork } from './paced-count.ts'
import { countChunk, emptyTally } from './tally.ts'

test('a paced count counts as any does, holds the event loop for its time, and reports every tenth chunk', () => {
  const reports: PacedWork[] = []
  const count = createPacedCount(2, (work) => reports.push(work))
  const startedAt = performance.now()
  let tally = emptyTally
  for (let chunk = 0; chunk < 20; chunk++) tally = count(tally, 10_001)
  // A wait ends no earlier than it should, but for what clocks round.
  expect(performance.now() - startedAt).toBeGreaterThan(20 * 2 - 5)
  expect(tally).toEqual(countChunk(emptyTally, 10_001))
  expect(reports.map(({ chunks }) => chunks)).toEqual([10, 10])
})
