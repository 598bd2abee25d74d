import { expect, test } from 'vitest'
import { median } from './median.ts'

test.each([
  [[3], 3],
  [[9, 1, 5], 5],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100], 10],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected)
})

test('an empty list has no median', () => {
  expect(() => median([])).toThrow('median of an empty list')
})
