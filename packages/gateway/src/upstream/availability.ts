import type { Clock } from '@x/core'

/** The number of failures in a row after which no calls are sent for a while. */
const maxFailures = 3
/** Milliseconds without calls. After that, one call is sent as a test. */
const pauseMs = 2000

/**
 * The state of an upstream: no request was sent yet, the last request was answered, or several requests in a row were
 * not answered.
 */
export type UpstreamState = 'unknown' | 'reachable' | 'away'

/**
 * A circuit breaker. Only requests without an answer count as failures, because an error of a tool is an answer. The
 * available libraries accept no clock, and do not return the time of the next attempt.
 */
export class Availability {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #failures = 0
  #hasAnswered = false
  #nextAttemptAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get state(): UpstreamState {
    if (this.#failures >= maxFailures) return 'away'
    return this.#hasAnswered ? 'reachable' : 'unknown'
  }

  /** Returns undefined if a call may be sent, and otherwise the milliseconds until another attempt. */
  admit(): number | undefined {
    if (this.state !== 'away') return undefined
    const now = this.#clock.monotonicNow()
    if (now < this.#nextAttemptAt) return Math.ceil(this.#nextAttemptAt - now)
    // The calls after this one wait too, also if its host cancels it.
    this.#nextAttemptAt = now + pauseMs
    return undefined
  }

  succeed(): void {
    const wasAway = this.state === 'away'
    this.#failures = 0
    this.#hasAnswered = true
    if (wasAway) this.#notify()
  }

  fail(): void {
    this.#failures += 1
    if (this.#failures < maxFailures) return
    this.#nextAttemptAt = this.#clock.monotonicNow() + pauseMs
    if (this.#failures === maxFailures) this.#notify()
  }

  /** Calls a function when the upstream becomes unreachable, or reachable again. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
