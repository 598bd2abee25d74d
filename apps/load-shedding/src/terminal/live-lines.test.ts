import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFakeStage } from '../testing/fake-stage.ts'
import { liveLines } from './live-lines.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('every two seconds a line has the states and the totals, and wrong results only if there are any', () => {
  const stream = new PassThrough({ encoding: 'utf8' })
  const stage = createFakeStage()
  const lines = liveLines(stream)
  lines.print('it starts')
  lines.watch(stage.snapshot)
  vi.advanceTimersByTime(2000)
  stage.update({
    lanes: stage.snapshot().lanes.map((lane) => ({ ...lane, isOverloaded: lane.instance === 1 })),
    totals: { completed: 31, lost: 0, wrong: 2, moved: 1, chunks: 400, repeated: 0 },
    recent: { perSecond: 2.04, p50Ms: 240, p99Ms: 1820 },
  })
  vi.advanceTimersByTime(2000)
  lines.stop()
  vi.advanceTimersByTime(2000)
  expect(stripVTControlCharacters(String(stream.read())).split('\n')).toEqual([
    'it starts',
    '1:ready 2:ready  0 completed, 0 lost, 0 hand-offs, 0 chunks repeated  last 10 s: 0.0 calls/s, p50 –, p99 –',
    '1:overloaded 2:ready  31 completed, 0 lost, 1 hand-off, 0 chunks repeated, 2 wrong  last 10 s: 2.0 calls/s, p50 240 ms, p99 1.8 s',
    '',
  ])
})
