import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pauseOf } from './pause.ts'

test.each([
  [0, {}, 0, 50],
  [1, {}, 0, 100],
  [0, {}, 1, 25],
  [6, {}, 0, 3200],
  [7, {}, 0, 5000],
  [9, { first: 10, most: 20 }, 0, 20],
  [0, { first: 0 }, 0.5, 0],
])('After %j pauses in a row, bounds %j and chance %j make %j ms', (earlier, bounds, chance, ms) => {
  expect(pauseOf(earlier, bounds, () => chance)).toBe(ms)
})

test('A pause is never longer than its bound, nor shorter than half of it', () => {
  fc.assert(
    fc.property(fc.nat(2000), fc.nat(10_000), fc.double({ min: 0, max: 1, noNaN: true }), (earlier, most, chance) => {
      const ms = pauseOf(earlier, { first: 50, most }, () => chance)
      const longest = Math.min(50 * 2 ** earlier, most)
      expect(ms).toBeLessThanOrEqual(longest)
      expect(ms).toBeGreaterThanOrEqual(longest / 2)
    }),
  )
})
