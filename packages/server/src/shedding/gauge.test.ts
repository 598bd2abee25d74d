import { expect, test } from 'vitest'
import { createGauge, enterCall, leaveCall, loadOf, measure } from './gauge.ts'
import { rulesOf } from './rules.ts'
import { serverLoad } from './server-load.ts'
import type { Load } from './shedding-options.ts'
import { isStrained, noStrain, strainOf } from './strain.ts'

const limits = { running: 100, eventLoopDelayMs: 100, heapShare: 0.5 }
const calm: Load = { running: 0, eventLoopDelayMs: 0, heapShare: undefined }

/** A gauge on a clock in the test's hand, whose timers come as late as the test says. */
function gaugeOf(take?: () => Partial<Load>) {
  let time = 0
  const timers: { readonly due: number; readonly run: () => void }[] = []
  const failures: unknown[] = []
  const source = {
    now: () => time,
    later: (run: () => void, ms: number) => void timers.push({ due: time + ms, run }),
    measure: take,
    onFailure: (error: unknown) => void failures.push(error),
  }
  const gauge = createGauge(rulesOf({}, false), source)
  const tick = (lateMs = 0) => {
    const timer = timers.shift()
    if (timer === undefined) throw new Error('no timer waits')
    time = timer.due + lateMs
    timer.run()
  }
  const pass = (ms: number) => {
    time += ms
  }
  return { gauge, timers, failures, tick, pass }
}

test.each([
  ['eventLoopDelayMs', 'eventLoopDelay', [100, 101, 100, 81, 80, 100, 101]],
  ['running', 'running', [100, 101, 100, 81, 80, 100, 101]],
  ['heapShare', 'heap', [0.5, 0.51, 0.5, 0.41, 0.4, 0.5, 0.51]],
] as const)('what is over its limit in %s stays so until it is below four fifths of it', (measured, name, values) => {
  let strain = noStrain
  const seen = values.map((value) => {
    strain = strainOf({ ...calm, [measured]: value }, limits, strain)
    return [strain[name], isStrained(strain)]
  })
  expect(seen).toEqual([false, true, true, true, false, false, true].map((is) => [is, is]))
})

test('a measure that falls leaves the others where they are', () => {
  const strain = strainOf({ running: 101, eventLoopDelayMs: 101, heapShare: 0.51 }, limits, noStrain)
  expect(strainOf({ ...calm, running: 90 }, limits, strain)).toEqual({
    running: true,
    eventLoopDelay: false,
    heap: false,
  })
})

test('one timer measures while calls run, however many, and none is left when they have ended', () => {
  const { gauge, timers, tick } = gaugeOf()
  expect(timers).toEqual([])
  for (let call = 0; call < 1000; call++) enterCall(gauge)
  expect(timers).toHaveLength(1)
  for (let count = 0; count < 5; count++) tick()
  expect(timers).toHaveLength(1)
  for (let call = 0; call < 1000; call++) leaveCall(gauge)
  tick()
  expect([timers, loadOf(gauge).running]).toEqual([[], 0])
  enterCall(gauge)
  expect(timers).toHaveLength(1)
})

test('calls that begin and end in one go share a timer', () => {
  const { gauge, timers } = gaugeOf()
  for (let call = 0; call < 1000; call++) {
    enterCall(gauge)
    leaveCall(gauge)
  }
  expect(timers).toHaveLength(1)
})

test('ticks that are late show how late the event loop is, and a single late one is not all', () => {
  const { gauge, tick } = gaugeOf()
  enterCall(gauge)
  const seen = [0, 200, 0, 200, 200, 200].map((lateMs) => {
    tick(lateMs)
    return Math.round(loadOf(gauge).eventLoopDelayMs)
  })
  expect(seen).toEqual([0, 100, 50, 125, 163, 181])
})

test('a loop that does not turn is measured at boundaries, where no tick can come', () => {
  const { gauge, pass } = gaugeOf()
  enterCall(gauge)
  pass(1100)
  measure(gauge)
  expect(loadOf(gauge).eventLoopDelayMs).toBe(500)
})

test('what a source tells goes before what the server measures itself, and it is asked ten times a second at most', () => {
  let asked = 0
  const { gauge, pass } = gaugeOf(() => ({ eventLoopDelayMs: ++asked, heapShare: 0.25 }))
  for (let count = 0; count < 100; count++) {
    measure(gauge)
    pass(10)
  }
  expect([asked, loadOf(gauge)]).toEqual([10, { running: 0, eventLoopDelayMs: 10, heapShare: 0.25 }])
})

test('a source that fails is told, and what the server measures itself goes on', () => {
  const { gauge, failures } = gaugeOf(() => {
    throw new Error('no histogram')
  })
  enterCall(gauge)
  measure(gauge)
  expect([String(failures[0]), loadOf(gauge)]).toEqual(['Error: no histogram', { ...calm, running: 1 }])
})

test('a server that is overloaded is ready for five seconds more, and again as soon as it is not', () => {
  const load = { eventLoopDelayMs: 0 }
  const { gauge, tick } = gaugeOf(() => load)
  enterCall(gauge)
  tick()
  load.eventLoopDelayMs = 101
  const over = Array.from({ length: 52 }, () => {
    tick()
    return serverLoad(gauge).ready
  })
  expect(over.indexOf(false)).toBe(50)
  load.eventLoopDelayMs = 80
  tick()
  expect(serverLoad(gauge).ready).toBe(true)
})

test('what was measured under load says nothing of a server that has nothing to do', () => {
  const { gauge, tick } = gaugeOf()
  enterCall(gauge)
  for (let count = 0; count < 60; count++) tick(300)
  expect(serverLoad(gauge).ready).toBe(false)
  leaveCall(gauge)
  tick(300)
  expect(serverLoad(gauge)).toMatchObject({ ready: true, eventLoopDelayMs: 0 })
})
