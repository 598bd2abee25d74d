import type { Runtime } from '@x/core'
import { TestingError } from './testing-error.ts'

/** Options of {@link testRuntime}. */
export interface TestRuntimeOptions {
  /** Initial time in milliseconds since 1970. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number | undefined
  /** Makes the UUIDs. Default: numbered ones, `00000000-0000-4000-8000-000000000001` and so on. */
  readonly randomUuid?: (() => string) | undefined
}

/** A runtime whose time stays the same until {@link TestRuntime.advance} is called. */
export interface TestRuntime extends Runtime {
  /**
   * Advances the time by `ms` milliseconds, and fires all timers that become due, in their order, including those that
   * their callbacks set. Resolves when the promise callbacks of the timers have run.
   */
  advance(ms: number): Promise<void>
  /** How many timers are pending. */
  readonly waitingTimerCount: number
}

interface Timer {
  readonly dueAt: number
  readonly callback: () => void
}

/**
 * A runtime that the test controls, for `createServer({ runtime })`, for `testClient`, and for all code that takes a
 * `Runtime`.
 *
 * @example
 * const runtime = testRuntime()
 * const client = testClient((kit) => createServer({ ...definition, ...kit }), { runtime })
 * await runtime.advance(60_000)
 */
export function testRuntime(options: TestRuntimeOptions = {}): TestRuntime {
  const { now: startTime = Date.UTC(2026, 0, 1), randomUuid = createUuidSequence() } = options
  const timers = new Map<number, Timer>()
  let elapsedMs = 0
  let lastTimerId = 0
  const findNextDueTimer = (endMs: number): [number, Timer] | undefined => {
    let nextEntry: [number, Timer] | undefined
    // Timers with the same time fire in the order in which they were set, which is that of the map.
    for (const entry of timers)
      if (entry[1].dueAt <= endMs && (nextEntry === undefined || entry[1].dueAt < nextEntry[1].dueAt)) nextEntry = entry
    return nextEntry
  }
  return {
    now: () => startTime + elapsedMs,
    monotonicNow: () => elapsedMs,
    randomUuid,
    setTimeout: (callback, ms) => {
      lastTimerId += 1
      timers.set(lastTimerId, { dueAt: elapsedMs + Math.max(0, ms), callback })
      return lastTimerId
    },
    clearTimeout: (timer) => void (typeof timer === 'number' && timers.delete(timer)),
    advance: async (ms) => {
      if (!(ms >= 0) || ms === Number.POSITIVE_INFINITY) {
        throw new TestingError('usage', `advance was given ${ms}; expected milliseconds from 0`)
      }
      const endMs = elapsedMs + ms
      await flushTasks()
      for (let due = findNextDueTimer(endMs); due !== undefined; due = findNextDueTimer(endMs)) {
        const waitingCount = timers.size
        timers.delete(due[0])
        elapsedMs = Math.max(elapsedMs, due[1].dueAt)
        due[1].callback()
        await nextTick()
        // If the timer set itself again, the code polls and has no result yet. Otherwise the code may wait for Web
        // Crypto or I/O, so the event loop must turn.
        if (timers.size < waitingCount || findNextDueTimer(endMs) === undefined) await flushTasks()
      }
      elapsedMs = Math.max(elapsedMs, endMs)
    },
    get waitingTimerCount() {
      return timers.size
    },
  }
}

// Read when the module loads, before a test can replace them. The fake timers of a test runner do not fire by
// themselves.
const { setTimeout: platformSetTimeout, setImmediate: platformSetImmediate } = globalThis

/** Microseconds on platforms with `setImmediate`. */
function nextTick(): Promise<void> {
  return typeof platformSetImmediate === 'function'
    ? new Promise((resolve) => void platformSetImmediate(resolve))
    : flushTasks()
}

/** Takes at least a millisecond. */
function flushTasks(): Promise<void> {
  return new Promise((resolve) => void platformSetTimeout(resolve, 0))
}

function createUuidSequence(): () => string {
  let lastNumber = 0
  return () => {
    lastNumber += 1
    return `00000000-0000-4000-8000-${String(lastNumber).padStart(12, '0')}`
  }
}
