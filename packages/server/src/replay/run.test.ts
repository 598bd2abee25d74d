import { isSuspension } from '@x/exchange/internal'
import { describe, expect, test } from 'vitest'
import { HandlerError } from './handler-error.ts'
import { Run } from './run.ts'
import type { AskedQuestion } from './journal.ts'
import type { ServedRequest } from './served-request.ts'
import { createPlatformLoadMonitor } from '../shedding/load-monitor.ts'

const runningCountOf = ({ request }: Run) => request.settings.loadMonitor.readLoad().running

/** Creates a run, as the only one that its server counts, with the parts of a request that these tests need. */
function createRun(): Run {
  const loadMonitor = createPlatformLoadMonitor({}, { now: () => 0, wallClock: () => 0, warn() {} })
  loadMonitor.beginWork()
  const settings = { stateCodec: {}, loadMonitor, warn() {}, log() {} }
  return new Run({ settings, call: { signal: new AbortController().signal } } as unknown as ServedRequest, 'charge')
}

const question: AskedQuestion = {
  request: { method: 'roots/list' },
  text: '',
  wireKeyCount: 1,
  invalidAnswerCount: 0,
  changeCount: 0,
}

const failedStore = Object.assign(new Error('Down'), { name: 'McpError', code: -32603 })

const stops: readonly [string, (run: Run) => Promise<never>][] = [
  ['ask', (run) => run.ask('a', question)],
  ['becomeTask', (run) => run.becomeTask()],
  ['handOff', (run) => run.handOff('load')],
  ['restart', (run) => run.restart()],
]

describe.each(stops)('%s', (_, stop) => {
  test('rejects at once after the store has failed, and leaves the run as it is', async () => {
    const run = createRun()
    run.failStore(failedStore)
    const { end } = run
    expect(await stop(run).catch(isSuspension)).toBe(true)
    expect([run.end, run.wasStopped, runningCountOf(run)]).toEqual([end, false, 1])
  })

  test('rejects at once after the handler has ended, and leaves the run as it is', async () => {
    const run = createRun()
    run.close()
    expect(await stop(run).catch(isSuspension)).toBe(true)
    expect([run.end, run.wasStopped, runningCountOf(run)]).toEqual([{ kind: 'finished' }, false, 1])
  })
})

test('a run that is handed off twice is counted once', () => {
  const run = createRun()
  void run.handOff('load')
  void run.handOff('stopping')
  expect(runningCountOf(run)).toBe(0)
  run.close()
  run.close()
  expect(runningCountOf(run)).toBe(1)
})

test('all who wait for the pending work continue when it has ended', async () => {
  const run = createRun()
  run.beginWork()
  run.beginWork()
  const waits = [run.waitForWork(), run.waitForWork()]
  run.endWork()
  expect(run.hasPendingWork).toBe(true)
  run.endWork()
  expect(await Promise.all(waits)).toEqual([undefined, undefined])
})

test('a handler that has returned before its suspension is finished, and one that returns after it is not', async () => {
  const before = createRun()
  void before.handOff('load')
  before.proposeFinished()
  expect(before.end?.kind).toBe('finished')

  const after = createRun()
  await after.handOff('load').catch(() => {})
  after.proposeFinished()
  after.close()
  expect(after.end?.kind).toBe('handed_off')
})

test('a misuse changes the end and not the phase', () => {
  const run = createRun()
  run.fail(new HandlerError('key', 'Wrong key'))
  expect([run.end?.kind, run.isOver]).toEqual(['misused', false])
})
