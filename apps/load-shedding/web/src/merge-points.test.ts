import { expect, test } from 'vitest'
import { mergePoints } from './merge-points.ts'

const points = (...seconds: readonly number[]) =>
  seconds.map((at) => ({ at, perSecond: 0, movesPerSecond: 0, p50Ms: null, p99Ms: null, delays: [] }))

test.each([
  ['new points are appended', [1, 2], [3], [1, 2, 3]],
  ['a snapshot without points changes nothing', [1, 2], [], [1, 2]],
  ['points that are repeated after a reconnection are not duplicated', [1, 2, 3], [2, 3, 4], [1, 2, 3, 4]],
  ['a restarted server starts a new history', [1, 2, 3], [1], [1]],
])('%s', (_, history, added, expected) => {
  expect(mergePoints(points(...history), points(...added))).toEqual(points(...expected))
})

test('the history has at most two minutes', () => {
  const seconds = Array.from({ length: 130 }, (_, at) => at)
  expect(mergePoints(points(...seconds.slice(0, 100)), points(...seconds.slice(100)))).toEqual(
    points(...seconds.slice(10)),
  )
})
