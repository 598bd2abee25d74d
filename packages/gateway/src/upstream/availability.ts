import { type Clock, settlesWithin } from '@x/core'

// limit: failures | count | failed calls of one upstream in a row | calls fail without being sent
const maxFailures = 3
// limit: pause | ms | the time without calls after these failures | one call tries again
const pauseMs = 2000
/** After an answer, readiness asks for no other one within this time. */
const quietMs = 10_000
/** A call waits this long for a probe, which may itself take longer, because it may start a process. */
const maxWaitMs = 2000
/** After this time an unanswered probe no longer delays the next one. It may be lost, or its answer still comes. */
const patienceMs = 5000

/**
 * No request was sent yet, or the last one was answered, or the upstream has answered neither several in a row nor a
 * probe.
 */
export type UpstreamState = 'unknown' | 'reachable' | 'away'

/**
 * A circuit breaker whose verdict is a probe of the gateway itself. Requests of callers only give the occasion: what
 * one caller sends must not decide whether others are served. Available libraries accept no clock, and do not return
 * the time of the next attempt.
 */
export class Availability {
  readonly #clock: Clock
  readonly #probe: () => Promise<unknown>
  // Bounded by the hops, and streams of changes (`streams`).
  readonly #listeners = new Set<() => void>()
  #failures = 0
  #answers = 0
  #answeredAt = Number.NEGATIVE_INFINITY
  #isAway = false
  #nextProbeAt = 0
  #probing: Promise<void> | undefined
  #confirming: Promise<void> | undefined

  /** An answer to the probe is reported with {@link succeed}, as any other. */
  constructor(clock: Clock, probe: () => Promise<unknown>) {
    this.#clock = clock
    this.#probe = probe
  }

  get state(): UpstreamState {
    if (this.#isAway) return 'away'
    return this.#answers > 0 ? 'reachable' : 'unknown'
  }

  /** How many messages have arrived. */
  get answers(): number {
    return this.#answers
  }

  /** Requests in a row without an answer. */
  get failures(): number {
    return this.#failures
  }

  /** Probes an unreachable upstream, at most every two seconds. Resolves with the milliseconds until the next probe. */
  async check(): Promise<number | undefined> {
    if (!this.#isAway) return undefined
    if (this.#clock.monotonicNow() >= this.#nextProbeAt) this.#startProbe()
    if (this.#probing !== undefined) await settlesWithin(this.#probing, maxWaitMs, this.#clock)
    if (this.state !== 'away') return undefined
    return Math.max(1, Math.ceil(this.#nextProbeAt - this.#clock.monotonicNow()))
  }

  /**
   * Resolves to true if the upstream has answered of late, or answers now. Calls say nothing of an upstream that went
   * away while nobody calls, or that was never there.
   */
  async confirm(): Promise<boolean> {
    if ((await this.check()) !== undefined) return false
    if (!this.#hasAnsweredOfLate() && this.#clock.monotonicNow() >= this.#nextProbeAt) {
      this.#confirming ??= this.#askOnce()
      await settlesWithin(this.#confirming, maxWaitMs, this.#clock)
    }
    return this.#hasAnsweredOfLate()
  }

  /** Notes a message of the upstream. */
  succeed(): void {
    this.#failures = 0
    this.#answers += 1
    this.#answeredAt = this.#clock.monotonicNow()
    if (!this.#isAway) return
    this.#isAway = false
    this.#notify()
  }

  /** Notes a request that the upstream has not answered. */
  fail(): void {
    this.#failures += 1
    if (this.#failures >= maxFailures && !this.#isAway) this.#startProbe()
  }

  /**
   * Calls `listener` when the upstream becomes unreachable, or reachable again, until the returned function is called.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #hasAnsweredOfLate(): boolean {
    return this.#clock.monotonicNow() - this.#answeredAt < quietMs
  }

  /** Asks without a verdict: one lost answer makes a gateway not ready, and refuses nobody's call. */
  async #askOnce(): Promise<void> {
    await settlesWithin(this.#probe(), patienceMs, this.#clock)
    if (!this.#hasAnsweredOfLate()) this.#nextProbeAt = this.#clock.monotonicNow() + pauseMs
    this.#confirming = undefined
  }

  #startProbe(): void {
    this.#probing ??= this.#runProbe().finally(() => {
      this.#probing = undefined
    })
  }

  async #runProbe(): Promise<void> {
    const answers = this.#answers
    const probe = this.#probe().catch(() => undefined)
    // The verdict waits for its probe to end. A later probe that is lost must not outlast the outage that lost it.
    await (this.#isAway ? settlesWithin(probe, patienceMs, this.#clock) : probe)
    this.#nextProbeAt = this.#clock.monotonicNow() + pauseMs
    if (this.#answers > answers || this.#isAway) return
    this.#isAway = true
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
