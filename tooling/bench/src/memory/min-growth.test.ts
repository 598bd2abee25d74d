import { expect, test } from 'vitest'
import { minGrowth } from './min-growth.ts'

test.each([
  ['a leak shows in every step', [100, 200, 305], 100],
  ['a single growth is ignored', [100, 9000, 9003], 3],
  ['a smaller heap has a negative growth', [100, 90], -10],
])('%s', (_name, heaps, bytes) => {
  expect(minGrowth(heaps)).toBe(bytes)
})

test('a single measurement has no growth', () => {
  expect(() => minGrowth([100])).toThrow(RangeError)
})
