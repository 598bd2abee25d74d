import type { Runtime } from '@x/core'
import { TestingError } from './testing-error.ts'

/** Start of the time and of the randomness of a test. */
export interface TestRuntimeOptions {
  /** Milliseconds since 1970. 2026-01-01T00:00:00Z when absent. */
  readonly now?: number | undefined
  /** Makes the UUIDs. Numbered ones when absent: `00000000-0000-4000-8000-000000000001` and so on. */
  readonly randomUuid?: (() => string) | undefined
}

/** A runtime whose time does not pass until {@link TestRuntime.advance} moves it. */
export interface TestRuntime extends Runtime {
  /**
   * Moves the time on by `ms` milliseconds and fires the timers that are due, in their order. Resolves when the
   * promises that they led to had their turn, timers that were set meanwhile included.
   */
  advance(ms: number): Promise<void>
  /** The number of timers that wait. */
  readonly waitingTimerCount: number
}

interface Timer {
  readonly dueAt: number
  readonly callback: () => void
}

/**
 * Makes a runtime in the test's hand, for `createServer({ runtime })`, for `testClient`, and for all code that takes a
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
    // Timers of one moment fire in the order in which they were set, which is the order of the map.
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
        // A timer that was set again is a poll that found nothing. Any other may wait for WebCrypto or I/O.
        if (timers.size < waitingCount || findNextDueTimer(endMs) === undefined) await flushTasks()
      }
      elapsedMs = Math.max(elapsedMs, endMs)
    },
    get waitingTimerCount() {
      return timers.size
    },
  }
}

// Taken before a test can replace it, or the fake timers of a test runner would never fire.
const { setTimeout: platformSetTimeout, setImmediate: platformSetImmediate } = globalThis

/** Runs one turn of the event loop, which takes microseconds where the platform has `setImmediate`. */
function nextTick(): Promise<void> {
  return typeof platformSetImmediate === 'function'
    ? new Promise((resolve) => void platformSetImmediate(resolve))
    : flushTasks()
}

/** Lets everything run that waits for nothing but its turn, in at least a millisecond. */
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
