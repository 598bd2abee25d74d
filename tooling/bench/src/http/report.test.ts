import { expect, test } from 'vitest'
import { type Measurement, reportLines } from './report.ts'

const at = (name: string, perSecond: number): Measurement => ({
  name,
  perSecond,
  cpuPerRequest: 1_000_000 / perSecond,
  medianMilliseconds: 1,
  p99Milliseconds: 1,
})

test('a share is taken within a round, so that a slow round of the machine does not count', () => {
  const rounds = [
    [at('floor', 1000), at('ours', 800)],
    [at('floor', 100), at('ours', 80)],
    [at('floor', 1000), at('ours', 700)],
  ]
  const [floor, ours] = reportLines(16, rounds)
  expect(floor).toContain('100.0 % of the floor')
  expect(ours).toMatch(/80\.0 % of the floor +1\.25 x its CPU +1\.00 x its p99 +\(70\.0 to 80\.0 %\)/)
  expect(ours).toContain('700 calls/s')
})

test('a round without the floor is refused', () => {
  expect(() => reportLines(1, [[at('ours', 1)]])).toThrow('no measurement of floor')
})

test('calls that took less than the load can tell have no share of the slowest', () => {
  const quick = (name: string) => ({ ...at(name, 1000), p99Milliseconds: 0 })
  const [, ours] = reportLines(1, [[quick('floor'), quick('ours')]])
  expect(ours).toContain('p99 under 1 ms')
})
