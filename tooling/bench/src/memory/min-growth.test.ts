import { expect, test } from 'vitest'
import { minGrowth } from './min-growth.ts'

test.each([
  ['a leak is in every step', [100, 200, 305], 100],
  ['what grows once is not in all of them', [100, 9000, 9003], 3],
  ['a heap that shrank is not grown', [100, 90], -10],
])('%s', (_name, heaps, bytes) => {
  expect(minGrowth(heaps)).toBe(bytes)
})

test('one look says nothing', () => {
  expect(() => minGrowth([100])).toThrow(RangeError)
})
