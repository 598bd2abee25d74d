import { expect, test } from 'vitest'
import { LoadMonitor } from './load-monitor.ts'
import { sheddingRulesOf } from './shedding-rules.ts'
import type { Load } from './shedding-options.ts'
import { isOverloaded, noOverload, overloadOf } from './overload.ts'

const limits = { running: 100, eventLoopDelayMs: 100, heapShare: 0.5 }
const calm: Load = { running: 0, eventLoopDelayMs: 0, heapShare: undefined }

/** A load monitor on a clock in the test's hand, whose timers come as late as the test says. */
function monitorOf(take?: () => Partial<Load>) {
  let time = 0
  const timers: { readonly due: number; readonly run: () => void }[] = []
  const failures: unknown[] = []
  const reported: Load[] = []
  const source = {
    now: () => time,
    wallClock: () => 1_800_000_000_000 + time,
    randomId: () => 'me',
    setTimer: (run: () => void, ms: number) => void timers.push({ due: time + ms, run }),
    measureLoad: take,
    onFailure: (error: unknown) => void failures.push(error),
    onOverload: (load: Load) => void reported.push(load),
  }
  const monitor = new LoadMonitor(sheddingRulesOf({}, false), source)
  const tick = (lateMs = 0) => {
    const timer = timers.shift()
    if (timer === undefined) throw new Error('no timer waits')
    time = timer.due + lateMs
    timer.run()
  }
  const pass = (ms: number) => {
    time += ms
  }
  return { monitor, timers, failures, reported, tick, pass }
}

test.each([
  ['eventLoopDelayMs', 'isEventLoopDelayHigh', [100, 101, 100, 81, 80, 100, 101]],
  ['running', 'isRunningCountHigh', [100, 101, 100, 81, 80, 100, 101]],
  ['heapShare', 'isHeapHigh', [0.5, 0.51, 0.5, 0.41, 0.4, 0.5, 0.51]],
] as const)(
  'a value over its limit in %s counts as over it until it is below four fifths of the limit',
  (measured, name, values) => {
    let overload = noOverload
    const seen = values.map((value) => {
      overload = overloadOf({ ...calm, [measured]: value }, limits, overload)
      return [overload[name], isOverloaded(overload)]
    })
    expect(seen).toEqual([false, true, true, true, false, false, true].map((is) => [is, is]))
  },
)

test('a measure that falls leaves the others where they are', () => {
  const overload = overloadOf({ running: 101, eventLoopDelayMs: 101, heapShare: 0.51 }, limits, noOverload)
  expect(overloadOf({ ...calm, running: 90 }, limits, overload)).toEqual({
    isRunningCountHigh: true,
    isEventLoopDelayHigh: false,
    isHeapHigh: false,
  })
})

test('one timer measures while calls run, however many, and none is left when they have ended', () => {
  const { monitor, timers, tick } = monitorOf()
  expect(timers).toEqual([])
  for (let call = 0; call < 1000; call++) monitor.beginWork()
  expect(timers).toHaveLength(1)
  for (let count = 0; count < 5; count++) tick()
  expect(timers).toHaveLength(1)
  for (let call = 0; call < 1000; call++) monitor.endWork()
  tick()
  expect([timers, monitor.readLoad().running]).toEqual([[], 0])
  monitor.beginWork()
  expect(timers).toHaveLength(1)
})

test('calls that begin and end in one go share a timer', () => {
  const { monitor, timers } = monitorOf()
  for (let call = 0; call < 1000; call++) {
    monitor.beginWork()
    monitor.endWork()
  }
  expect(timers).toHaveLength(1)
})

test('ticks that are late show how late the event loop is, and a single late one is not all', () => {
  const { monitor, tick } = monitorOf()
  monitor.beginWork()
  const seen = [0, 200, 0, 200, 200, 200].map((lateMs) => {
    tick(lateMs)
    return Math.round(monitor.readLoad().eventLoopDelayMs)
  })
  expect(seen).toEqual([0, 100, 50, 125, 163, 181])
})

test('a loop that does not turn is measured at boundaries, where no tick can come', () => {
  const { monitor, pass } = monitorOf()
  monitor.beginWork()
  pass(1100)
  monitor.sampleLoad()
  expect(monitor.readLoad().eventLoopDelayMs).toBe(500)
})

test('the measurements of a source replace those of the server, and are requested at most ten times a second', () => {
  let asked = 0
  const { monitor, pass } = monitorOf(() => ({ eventLoopDelayMs: ++asked, heapShare: 0.25 }))
  for (let count = 0; count < 100; count++) {
    monitor.sampleLoad()
    pass(10)
  }
  expect([asked, monitor.readLoad()]).toEqual([10, { running: 0, eventLoopDelayMs: 10, heapShare: 0.25 }])
})

test('the failure of a source is logged, and the server uses its own measurements', () => {
  const { monitor, failures } = monitorOf(() => {
    throw new Error('no histogram')
  })
  monitor.beginWork()
  monitor.sampleLoad()
  expect([String(failures[0]), monitor.readLoad()]).toEqual(['Error: no histogram', { ...calm, running: 1 }])
})

test('a server that is overloaded stays ready, and its log says so once for each time that lasts five seconds', () => {
  const load = { eventLoopDelayMs: 0 }
  const { monitor, reported, tick } = monitorOf(() => load)
  monitor.beginWork()
  const run = (eventLoopDelayMs: number, count: number) => {
    load.eventLoopDelayMs = eventLoopDelayMs
    for (let index = 0; index < count; index++) {
      tick()
      expect(monitor.readServerLoad().ready).toBe(true)
    }
    return reported.length
  }
  expect([run(101, 50), run(80, 1), run(101, 50), run(101, 1), run(101, 100)]).toEqual([0, 0, 0, 1, 1])
  expect([run(80, 1), run(101, 51)]).toEqual([1, 2])
})

test('what was measured under load says nothing of a server that has had nothing to do for half a second', () => {
  const { monitor, timers, tick } = monitorOf()
  monitor.beginWork()
  for (let count = 0; count < 60; count++) tick(300)
  expect(monitor.readLoad().eventLoopDelayMs).toBeCloseTo(300)
  monitor.endWork()
  for (let count = 0; count < 4; count++) tick()
  expect(timers).toEqual([])
  expect(monitor.readLoad().eventLoopDelayMs).toBe(0)
})

test('the log says that the load is too high of a server whose handlers block and leave nothing running', () => {
  const { monitor, reported, tick } = monitorOf()
  monitor.beginWork()
  monitor.endWork()
  // Each handler blocks before the timer can fire, and has ended when it does.
  for (let count = 0; count < 60; count++) tick(300)
  monitor.readServerLoad()
  expect(reported).toEqual([{ running: 0, eventLoopDelayMs: expect.closeTo(300), heapShare: undefined }])
})
