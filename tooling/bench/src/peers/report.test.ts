import { expect, test } from 'vitest'
import { peerRows } from './report.ts'

const size = { packages: ['zod'], bytes: 1_250_000 }
const programs = [
  { name: 'floor', revision: '2026-07-28', size: { packages: [], bytes: 0 } },
  { name: 'ours', revision: '2025-06-18', size },
] as const

test('a ratio is formed within a round, so that a slow round has no effect on it', () => {
  const round = (floor: number, ours: number): ReadonlyMap<string, number> =>
    new Map([
      ['floor', floor],
      ['ours', ours],
    ])
  const rounds = { starts: [round(10, 20), round(100, 200), round(10, 30)], calls: [round(1, 1.5)] }
  expect(peerRows(programs, rounds).slice(2)).toEqual([
    '| floor | 2026-07-28 | 0 packages, 0.0 MB | 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) |',
    '| ours | 2025-06-18 | 1 packages, 1.3 MB | 2.00 (2.00 to 3.00) | 1.50 (1.50 to 1.50) |',
  ])
})
