import { expect, test } from 'vitest'
import { createOutageLog, limitOutages, type LogRecord } from './index.ts'
import { BusError } from './bus/change-bus.ts'

function start() {
  const records: LogRecord[] = []
  const clock = { now: 0, monotonicNow: () => clock.now }
  /** Lines that the default log shows, since the last call. */
  const takeLines = (): string[] =>
    records
      .splice(0)
      .filter(({ level }) => level !== 'debug')
      .map(({ level, message }) => `${level} ${message}`)
  return { clock, takeLines, log: (record: LogRecord) => void records.push(record) }
}

const failure = (message: string): LogRecord => ({ level: 'error', message })

test('an outage of ten minutes is three lines, with its first and a later cause', () => {
  const { clock, takeLines, log } = start()
  const outage = createOutageLog(log, 'The store', clock)
  outage.succeed()
  for (; clock.now < 600_000; clock.now += 1000) outage.fail(failure(clock.now < 5000 ? 'closed' : 'refused'))
  expect(takeLines()).toEqual([
    'error closed',
    'warn The store has failed for 10 s. Until it answers, its failures have the level debug. The last one: refused',
  ])
  clock.now += 3000
  outage.succeed()
  clock.now += 12_000
  outage.succeed()
  outage.succeed()
  expect(takeLines()).toEqual(['info The store answers again, after 603 s'])
  outage.fail(failure('again'))
  expect(takeLines()).toEqual(['error again'])
})

test('answers between failures do not end an outage, and a failure long after another begins one', () => {
  const { clock, takeLines, log } = start()
  const outage = createOutageLog(log, 'The store', clock)
  for (; clock.now < 60_000; clock.now += 10_000) {
    outage.fail(failure('full'))
    outage.succeed()
  }
  expect(takeLines()).toHaveLength(2)
  clock.now += 60_001
  outage.fail(failure('full'))
  expect(takeLines()).toEqual(['error full'])
  clock.now += 2000
  outage.end()
  expect(takeLines()).toEqual(['info The store answers again, after 2 s'])
})

test('each unavailable service has an outage of its own, and every other error is a line', () => {
  const { clock, takeLines, log } = start()
  const limited = limitOutages(log, clock)
  const errors = [new BusError('unavailable', 'away'), new BusError('unreadable', 'no'), new Error('other')]
  const issuerError = Object.assign(new Error('no keys'), { name: 'TokenError', code: 'issuer_unavailable' })
  for (let count = 0; count < 2; count += 1)
    for (const err of [...errors, new Error('wrapped', { cause: issuerError })])
      limited.log({ level: 'error', message: err.message, err })
  expect(takeLines()).toEqual(['error away', 'error no', 'error other', 'error wrapped', 'error no', 'error other'])
  clock.now += 20_000
  limited.succeed('BusError')
  limited.succeed('StateError')
  expect(takeLines()).toEqual(['info The change bus answers again, after 20 s'])
})

test('an issuer that fails while another one is away is a line', () => {
  const { clock, takeLines, log } = start()
  const limited = limitOutages(log, clock)
  for (; clock.now <= 10_000; clock.now += 5000)
    for (const issuer of ['https://one.test', 'https://two.test']) {
      const err = Object.assign(new Error('no keys'), { name: 'TokenError', code: 'issuer_unavailable', issuer })
      limited.log({ level: 'error', message: `no keys of ${issuer}`, err })
    }
  expect(takeLines()).toEqual([
    'error no keys of https://one.test',
    'error no keys of https://two.test',
    expect.stringMatching(/^warn The issuer of access tokens "https:..one.test" has failed for 10 s/),
    expect.stringMatching(/^warn The issuer of access tokens "https:..two.test" has failed for 10 s/),
  ])
})
