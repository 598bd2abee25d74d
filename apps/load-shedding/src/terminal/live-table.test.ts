import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFakeStage } from '../testing/fake-stage.ts'
import { liveLines, liveTable } from './live-table.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function openOutput(columns: number) {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns })
  return { stream, written: () => String(stream.read() ?? '') }
}

test('a table replaces the previous one, and printed lines stay above it', () => {
  const { stream, written } = openOutput(120)
  const stage = createFakeStage()
  const table = liveTable(stream)
  table.watch(stage.snapshot)
  const first = written()
  const lines = first.split('\n').length - 1
  expect(first).toContain('instance')
  vi.advanceTimersByTime(250)
  expect(written().startsWith(`\u001b[${lines}A\u001b[0J`)).toBe(true)
  table.print('something happened')
  const printed = written()
  expect(printed.indexOf('something happened\n')).toBeLessThan(printed.lastIndexOf('instance'))
  table.stop()
  vi.advanceTimersByTime(1000)
  expect(written()).toBe('')
})

test('every line is shorter than the width of the terminal', () => {
  const { stream, written } = openOutput(30)
  const table = liveTable(stream)
  table.watch(createFakeStage().snapshot)
  table.stop()
  expect(
    Math.max(
      ...written()
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBeLessThan(30)
})

test('without a terminal, a line is written every two seconds', () => {
  const { stream, written } = openOutput(80)
  const lines = liveLines(stream)
  lines.watch(createFakeStage().snapshot)
  vi.advanceTimersByTime(4000)
  lines.stop()
  const [first, second, ...others] = written().split('\n')
  expect(first).toContain('1:ready 2:ready  0 completed')
  expect(second).toBe(first)
  expect(others).toEqual([''])
})
