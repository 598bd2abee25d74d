import { expect, test } from 'vitest'
import { importLines, loadedLines, type Round, startLines } from './report.ts'

const round = (floor: number, ours: number): Round =>
  new Map([
    ['floor', { milliseconds: floor, cpuMilliseconds: 10 }],
    ['ours', { milliseconds: ours, cpuMilliseconds: 25 }],
  ])

test('a ratio is formed within a round, so that a slow round has no effect on it', () => {
  const [floor, ours] = startLines([round(100, 150), round(1000, 1600), round(100, 170)])
  expect(floor).toContain('1.00 x the floor (1.00 to 1.00)')
  expect(ours).toMatch(/^ours +170 ms \(150 to 1600\) +1\.60 x the floor \(1\.50 to 1\.70\) +2\.50 x its CPU$/)
})

test('a line has no ratio of CPU if the system does not report the CPU of a process', () => {
  const [floor] = startLines([new Map([['floor', { milliseconds: 1 }]])])
  expect(floor).toMatch(/\(1\.00 to 1\.00\)$/)
})

test('a round without the floor is an error', () => {
  expect(() => startLines([new Map([['ours', { milliseconds: 1 }]])])).toThrow('no start of floor')
})

test('loaded files are summed, and the package with the most files is first', () => {
  const loaded = new Map([
    ['few', { files: 1, bytes: 9000 }],
    ['many', { files: 3, bytes: 1000 }],
  ])
  const [head, first] = loadedLines('ours', loaded)
  expect(head).toMatch(/4 files, +10 KB/)
  expect(first).toContain('many')
})

test('the time of a start that no import explains has its own line, and is computed within a round', () => {
  const rounds = [
    { whole: 100, times: new Map([['zod', 60.04]]) },
    { whole: 1000, times: new Map([['zod', 950]]) },
    { whole: 100, times: new Map([['zod', 50]]) },
  ]
  const [zod, rest] = importLines(rounds)
  expect(zod).toMatch(/zod +60\.0 ms/)
  expect(rest).toMatch(/to make the server and answer +50\.0 ms/)
})
