import { type Cancellable, offCancel, onCancel } from './cancellation.ts'
import { type Clock, unref } from './runtime.ts'

/** The timers of the platforms accept no more: 31 bits of milliseconds. */
export const maxTimerMs = 2_147_483_647

/** Runs a function once, after a delay in milliseconds. The returned function cancels the timer. */
export type Schedule = (run: () => void, ms: number) => () => void

/** Sets a timer that does not keep the process alive, if the platform can. */
export function startBackgroundTimer(clock: Clock, callback: () => void, ms: number): unknown {
  const timer = clock.setTimeout(callback, ms)
  unref(timer)
  return timer
}

/** Options of {@link sleep}. */
export interface SleepOptions {
  readonly clock: Clock
  /** Ends the sleep when it aborts, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Gets a function that ends the sleep early, which then resolves. */
  readonly registerWake?: ((wake: () => void) => void) | undefined
  /** Lets the process exit while only this sleep is pending. */
  readonly isBackground?: boolean | undefined
}

/** Waits for a time in milliseconds. Rejects with the reason of the signal if that aborts first. */
export async function sleep(ms: number, { clock, signal, registerWake, isBackground }: SleepOptions): Promise<void> {
  signal?.throwIfAborted()
  let timer: unknown
  let rejectSleep: (reason: unknown) => void = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      rejectSleep = reject
      if (signal !== undefined) onCancel(signal, reject)
      timer = clock.setTimeout(resolve, ms)
      if (isBackground === true) unref(timer)
      registerWake?.(resolve)
    })
  } finally {
    clock.clearTimeout(timer)
    if (signal !== undefined) offCancel(signal, rejectSleep)
  }
}

/** Bounds of the pauses between attempts, in milliseconds. */
export interface BackoffBounds {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * Pause before another attempt, in milliseconds: doubles after each failure in a row, up to a bound, less a random part
 * of up to half, so that callers that failed together do not retry together.
 *
 * @param failureCount The number of failures in a row before the last one, from 0.
 */
export function computeBackoffMs(
  failureCount: number,
  { firstMs, maxMs }: BackoffBounds,
  random: () => number = Math.random,
): number {
  return Math.min(firstMs * 2 ** failureCount, maxMs) * (1 - random() / 2)
}

/** A time limit of an operation. */
export interface TimeLimit {
  /** In milliseconds. Undefined, or a number beyond {@link maxTimerMs}, means no limit. */
  readonly timeoutMs: number | undefined
  readonly clock: Clock
  /** Makes the error of an operation that exceeds the limit. */
  readonly createTimeoutError: () => Error
}

/** A time limit, and the signal of the caller. */
export interface TimeoutOptions extends TimeLimit {
  readonly signal?: AbortSignal | undefined
}

/** A signal for an operation. It aborts when the caller's does, and at a time limit. */
export interface AbortScope {
  /** Aborts with the caller's reason, the timeout error, or the argument of `stop`. */
  readonly signal: AbortSignal
  stop(reason: unknown): void
  /** Stops listening to the caller's signal, and stops the timer. */
  close(): void
}

/** Follows a caller's signal, optionally with a time limit. The code that opens it must close it. */
export function openAbortScope(signal: AbortSignal | undefined, timeLimit?: TimeLimit): AbortScope {
  const controller = new AbortController()
  const stop = (reason: unknown): void => controller.abort(reason)
  const stopTimer = timeLimit && startTimer(timeLimit, controller)
  if (signal) onCancel(signal, stop)
  return {
    signal: controller.signal,
    stop,
    close: () => {
      stopTimer?.()
      if (signal) offCancel(signal, stop)
    },
  }
}

function startTimer(
  { timeoutMs, clock, createTimeoutError }: TimeLimit,
  controller: AbortController,
): (() => void) | undefined {
  if (timeoutMs === undefined || timeoutMs > maxTimerMs) return undefined
  return startTimeLimit(() => controller.abort(createTimeoutError()), timeoutMs, clock)
}

/** Milliseconds by which a timer is late only if the event loop was blocked or the process was stopped. */
const blockedMs = 50

/**
 * Starts the timer of a wait for an answer. The returned function ends it. Timers run before the platform reads what
 * has arrived, so a process that was stopped beyond the limit, by Ctrl-Z or a paused container, first gets a moment to
 * read the answer. A limit beyond {@link maxTimerMs} ends there.
 */
export function startTimeLimit(onEnd: () => void, ms: number, clock: Clock): () => void {
  const waitMs = Math.min(ms, maxTimerMs)
  const endsAt = clock.monotonicNow() + waitMs
  let timer = clock.setTimeout(() => {
    if (clock.monotonicNow() - endsAt < blockedMs) onEnd()
    else timer = clock.setTimeout(onEnd, blockedMs)
  }, waitMs)
  return () => clock.clearTimeout(timer)
}

/**
 * Settles like the promise, or rejects with the reason of the cancellation if that comes first. The work behind the
 * promise continues.
 */
export function raceWithCancellation<T>(promise: Promise<T>, target: Cancellable): Promise<T> {
  return new Promise((resolve, reject) => {
    onCancel(target, reject)
    // After the cancellation, a rejection of the promise is handled here.
    promise.then(resolve, reject).finally(() => offCancel(target, reject))
  })
}

/**
 * Runs an operation with a time limit and the signal of its caller. When one of them ends the wait, the signal that the
 * operation received aborts, and this function rejects at once. The operation itself may still run.
 */
export async function withTimeout<T>(
  options: TimeoutOptions,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const scope = openAbortScope(options.signal, options)
  try {
    return await raceWithCancellation(operation(scope.signal), scope.signal)
  } finally {
    scope.close()
  }
}

/** Waits at most so many milliseconds for a promise. True if it settled in time. */
export function settlesWithin(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const stopTimer = startTimeLimit(() => resolve(false), ms, clock)
    const handleSettled = (): void => {
      stopTimer()
      resolve(true)
    }
    promise.then(handleSettled, handleSettled)
  })
}
