import { expect, test } from 'vitest'
import { latencyLines, percentile, roundTripLines, startColumns, throughputLines } from './report.ts'

const throughput = (name: string, perSecond: number) => ({ name, perSecond, cpuPerOne: 1_000_000 / perSecond })

test('tasks per second are compared within a round, so that a slow round has no effect on the ratio', () => {
  const rounds = [
    [throughput('tasks', 500), throughput('pg-boss', 1000)],
    [throughput('tasks', 40), throughput('pg-boss', 100)],
    [throughput('tasks', 600), throughput('pg-boss', 1000)],
  ]
  const [ours, boss] = throughputLines('made', rounds)
  expect(ours).toMatch(/tasks +500\/s +2,000 us CPU +0\.50 x pg-boss \(0\.40 to 0\.60\) +2\.00 x its CPU$/)
  expect(boss).toMatch(/pg-boss +1,000\/s +1,000 us CPU$/)
})

test('a report of a single implementation has no ratios', () => {
  expect(throughputLines('made', [[throughput('tasks', 500)]])).toEqual([expect.stringMatching(/us CPU$/)])
  expect(latencyLines('waited', [{ name: 'tasks', rounds: [[1]] }])).toEqual([expect.stringMatching(/1\.00 ms$/)])
})

test('latencies are reported over all rounds, and compared by the median of each round', () => {
  const boss = { name: 'pg-boss', rounds: [[2], [2]] }
  const columns = [{ name: 'tasks', rounds: [[2, 4, 90], [6]] }, boss]
  const [ours, theirs] = latencyLines('waited', columns, boss)
  expect(ours).toMatch(/p50 4\.00 ms +p99 90\.0 ms +2\.50 x pg-boss \(2\.00 to 3\.00\)$/)
  expect(theirs).toMatch(/p50 2\.00 ms +p99 2\.00 ms$/)
})

test('starts are reported from the request and from the response, for each implementation', () => {
  const latencies = (name: string) => ({ name, fromSending: [3], fromAnswer: [-1] })
  const rounds = [[latencies('tasks'), latencies('pg-boss')]]
  expect(startColumns(rounds)).toEqual({
    fromSending: [
      { name: 'tasks', rounds: [[3]] },
      { name: 'pg-boss', rounds: [[3]] },
    ],
    fromAnswer: [
      { name: 'tasks', rounds: [[-1]] },
      { name: 'pg-boss', rounds: [[-1]] },
    ],
  })
})

test('each variant of a call is compared with the plain call of its round', () => {
  const trip = (name: string, milliseconds: number) => ({ name, milliseconds, cpuPerCall: milliseconds * 100 })
  const rounds = [
    [trip('plain', 0.5), trip('task', 5)],
    [trip('plain', 1), trip('task', 30)],
  ]
  const [plain, task] = roundTripLines('called', rounds)
  expect(plain).toMatch(/0\.75 ms +75 us CPU +1\.00 x \(1\.00 to 1\.00\) +1\.00 x its CPU$/)
  expect(task).toMatch(/17\.5 ms +1,750 us CPU +20 x \(10 to 30\) +20 x its CPU$/)
})

test.each([
  [[5], 0.99, 5],
  [[3, 1, 2], 0.5, 2],
  [Array.from({ length: 200 }, (_, index) => 200 - index), 0.99, 198],
])('a percentile is one of the values', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected)
})

test('an empty list has no percentile', () => {
  expect(() => percentile([], 0.5)).toThrow('percentile of an empty list')
})
