import { projectMetaKeys } from '@x/schema'
import { expect, test } from 'vitest'
import { computeHandOffDelayMs } from './round-options.ts'

const longest = (earlier: number) => computeHandOffDelayMs({ previousHandOffCount: earlier, meta: undefined }, () => 0)

test('Four hand-offs in a row are followed at once, and from the fifth on the pause doubles up to 400 ms', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map((earlier) => longest(earlier))).toEqual([
    50, 50, 50, 50, 100, 200, 400, 400, 400, 400,
  ])
  expect([11, 12, 13, 14, 99].map((earlier) => longest(earlier))).toEqual([800, 1600, 3200, 5000, 5000])
})

test('The calls of four hand-offs have waited 200 ms at most together', () => {
  const waited = [0, 1, 2, 3].reduce((sum, earlier) => sum + longest(earlier), 0)
  expect(waited).toBeLessThanOrEqual(4 * 50)
})

test.each([
  [7, 7, 10.5],
  [0, 0, 0],
  [1e9, 5000, 7500],
  [-1, 25, 50],
  ['soon', 25, 50],
  [null, 25, 50],
  [Number.NaN, 25, 50],
])('A server that asks for %j ms gets from %j to %j', (asked, least, most) => {
  const pause = (chance: number) =>
    computeHandOffDelayMs({ previousHandOffCount: 0, meta: { [projectMetaKeys.retryAfterMs]: asked } }, () => chance)
  expect([Math.min(pause(0), pause(1)), Math.max(pause(0), pause(1))]).toEqual([least, most])
})
