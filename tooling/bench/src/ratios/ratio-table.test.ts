import { expect, test } from 'vitest'
import { ratioTable } from './ratio-table.ts'

test('a table has a row for each ratio, and marks those that are not reached', () => {
  const [, , reached, missed] = ratioTable([
    { id: 'http/16', value: 0.96, ours: '9,600/s', floor: '10,000/s', peer: 0.064 },
    { id: 'http/tail', value: 1.4, ours: '4.20 x the median', floor: '3.00 x the median' },
  ])
  expect(reached).toBe(
    '| `tools/call` over `node:http`, 16 connections | >= 0.90 | 0.96 x | 9,600/s | 10,000/s | 0.06 x |',
  )
  expect(missed).toBe(
    '| p99 of the median over `node:http`, 64 connections | <= 1.30 | 1.40 x, not reached | 4.20 x the median | 3.00 x the median | – |',
  )
})
