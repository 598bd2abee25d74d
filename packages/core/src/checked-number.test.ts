import { expect, test } from 'vitest'
import { checkedNumber, type NumberBounds } from './index.ts'

test.each<[number, NumberBounds | undefined]>([
  [1, undefined],
  [Number.MAX_SAFE_INTEGER, undefined],
  [0, { min: 0 }],
  [5, { min: 5, max: 5 }],
  [0.5, { min: 0, isWhole: false }],
  [Number.POSITIVE_INFINITY, { isWhole: false }],
])('%d within %j is returned', (value, bounds) => {
  expect(checkedNumber('limit', value, bounds)).toBe(value)
})

test.each<[unknown, NumberBounds | undefined, string]>([
  [0, undefined, 'limit is 0: write a whole number from 1'],
  [1.5, undefined, 'limit is 1.5: write a whole number from 1'],
  [Number.NaN, { isWhole: false }, 'limit is NaN: write a number from 1'],
  [Number.POSITIVE_INFINITY, undefined, 'limit is Infinity: write a whole number from 1'],
  [6, { min: 0, max: 5 }, 'limit is 6: write a whole number from 0 to 5'],
  ['7', undefined, 'limit is "7": write a whole number from 1'],
  ['7', { isWhole: false }, 'limit is "7": write a number from 1'],
])('%j outside of %j throws a RangeError that describes the valid numbers', (value, bounds, message) => {
  expect(() => checkedNumber('limit', value as number, bounds)).toThrow(new RangeError(message))
})
