import { expect, test } from 'vitest'
import { formatMs } from './format-ms.ts'

test.each([
  [null, '–'],
  [Number.NaN, '–'],
  [0.4, '0 ms'],
  [999.4, '999 ms'],
  [1000, '1.0 s'],
  [61_250, '61.3 s'],
])('%d milliseconds are formatted as %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text)
})
