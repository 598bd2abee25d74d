import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import type { CallView } from '../board/snapshot.ts'
import { formatLine, formatTable, type TerminalView } from './format-snapshot.ts'

const call = (changes: Partial<CallView>): CallView => ({
  call: 'call-1',
  size: 'heavy',
  instance: 1,
  origin: 1,
  progress: 0,
  moves: 0,
  state: 'open',
  ...changes,
})
const lane = { pid: 10, isOverloaded: false, eventLoopDelayMs: 0, isReady: true, moved: 0 }
const view: TerminalView = {
  balancer: 'cluster',
  url: 'http://127.0.0.1:1/mcp',
  sheds: true,
  level: 'steady',
  isRolling: false,
  lanes: [
    { ...lane, instance: 1, status: 'ready', isOverloaded: true, eventLoopDelayMs: 171.4, moved: 12 },
    { ...lane, instance: 2, status: 'draining' },
  ],
  calls: [
    call({}),
    call({ progress: 0.99 }),
    call({ size: 'light' }),
    call({ state: 'lost' }),
    call({ instance: 0, progress: 0.5 }),
    call({ instance: 2, state: 'done' }),
  ],
  totals: { completed: 31, lost: 0, wrong: 0, moved: 12, chunks: 400, repeated: 0 },
  recent: { perSecond: 2.04, p50Ms: 240, p99Ms: 1820 },
}

test('a table has a row for each instance and one for the clients, each with its calls, and the totals', () => {
  expect(formatTable(view).map((line) => stripVTControlCharacters(line).trimEnd())).toEqual([
    'instance  status       delay  handed off  calls',
    '   1      overloaded  171 ms          12  ▁█·×',
    '   2      draining      0 ms           0',
    '   ·      with clients or in transit      ▅',
    '',
    'shedding on  31 completed, 0 lost, 12 hand-offs, 0 chunks repeated',
    'last 10 s: 2.0 calls/s, p50 240 ms, p99 1.8 s',
  ])
})

test('a line has the states and the totals, and wrong results only if there are any', () => {
  expect(stripVTControlCharacters(formatLine(view))).toBe(
    '1:overloaded 2:draining  31 completed, 0 lost, 12 hand-offs, 0 chunks repeated  last 10 s: 2.0 calls/s, p50 240 ms, p99 1.8 s',
  )
  const wrong = { ...view, totals: { ...view.totals, wrong: 2 } }
  expect(stripVTControlCharacters(formatLine(wrong))).toContain('0 chunks repeated, 2 wrong')
})

test('calls beyond the length of a row are shown as a number', () => {
  const calls = Array.from({ length: 30 }, () => call({ size: 'light' }))
  const [, row = ''] = formatTable({ ...view, calls })
  expect(stripVTControlCharacters(row)).toMatch(/·{24} \+6$/)
})
