import { expect, test } from 'vitest'
import { reportLines, type StreamMeasurement } from './report.ts'

const floor: StreamMeasurement = {
  name: 'floor',
  heapBytes: 1024,
  residentBytes: 2048,
  milliseconds: [10, 100, 10],
  cpuMicroseconds: [5, 5, 5],
}

test('a ratio is formed within a round, so that a slow round has no effect on it', () => {
  const ours = { ...floor, name: 'ours', heapBytes: 3072, milliseconds: [12, 120, 15], cpuMicroseconds: [5, 10, 10] }
  const [first, second] = reportLines([floor, ours])
  expect(first).toMatch(/^floor .*\(1\.00 x\).*\(1\.00 x\).*\(1\.00 x\).*\(1\.00 x\)$/)
  expect(second).toMatch(/3\.0 KB heap\/stream \(3\.00 x\).*2\.0 KB RSS.*15\.0 ms \(1\.20 x\).*10\.0 us.*\(2\.00 x\)$/)
})

test('a report of no servers is an error', () => {
  expect(() => reportLines([])).toThrow('pass the floor first')
})
