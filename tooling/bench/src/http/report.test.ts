import { expect, test } from 'vitest'
import { type Measurement, readingOf, reportLines } from './report.ts'

const at = (perSecond: number, p99Milliseconds = 1): Measurement => ({
  perSecond,
  cpuPerRequest: 1_000_000 / perSecond,
  medianMilliseconds: 1,
  p99Milliseconds,
})
const round = (floor: Measurement, ours: Measurement, more: Readonly<Record<string, Measurement>> = {}) =>
  new Map(Object.entries({ floor, ours, ...more }))

test('a line has the figures of a server, and the median of its shares of the floor in the same round', () => {
  const rounds = [round(at(1000), at(800)), round(at(100), at(80)), round(at(1000), at(700))]
  const [floor, ours] = reportLines(rounds, { connections: 16, unit: 'call' })
  expect(floor).toContain('100.0 % of the floor')
  expect(ours).toMatch(/80\.0 % of the floor +1\.25 x its CPU +1\.00 x its p99 +\(70\.0 to 80\.0 %\)/)
  expect(ours).toContain('700 calls/s')
})

test('a reading compares ours with the floor unless its row names other servers', () => {
  const rounds = [round(at(1000, 2), at(800, 3), { official: at(50), '500 tools': at(760) })]
  expect(readingOf(rounds, { id: 'http/16', connections: 16 })).toEqual({
    id: 'http/16',
    value: 0.8,
    ours: '800/s',
    floor: '1,000/s',
    cpu: 1.25,
    peer: 0.05,
  })
  expect(readingOf(rounds, { id: 'http/tail', connections: 16, of: 'tail' })).toMatchObject({
    value: 1.5,
    ours: '3.00 x the median',
    floor: '2.00 x the median',
  })
  const many = readingOf(rounds, { id: 'http/500-tools', connections: 16, name: '500 tools', base: 'ours' })
  expect(many).toMatchObject({ value: 0.95, ours: '760/s', floor: '800/s', peer: undefined })
})

test('a slower server whose p99 grows with its median has the same tail as the floor', () => {
  const slower: Measurement = { perSecond: 500, cpuPerRequest: 2000, medianMilliseconds: 2, p99Milliseconds: 4 }
  const [floor, ours] = [at(1000, 2), slower]
  expect(readingOf([round(floor, ours)], { id: 'http/tail', connections: 64, of: 'tail' }).value).toBe(1)
})

test('a reading without the official SDK has no ratio of the peer', () => {
  expect(readingOf([round(at(1000), at(800))], { id: 'http/1', connections: 1 }).peer).toBeUndefined()
})
