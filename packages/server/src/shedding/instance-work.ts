import { type LoadMonitor, yieldForTick } from './load-monitor.ts'

/** Milliseconds that all computing handlers of a server together may take before the event loop does other work. */
const workSliceMs = 10

/** The work of one request on this instance. It begins with the first step or checkpoint of the request. */
export class InstanceWork {
  readonly #monitor: LoadMonitor
  readonly #now: () => number
  readonly #startedAt: number
  /** The time when the request last let the event loop do other work. */
  #yieldedAt: number
  #isBound = false

  constructor(monitor: LoadMonitor, now: () => number) {
    this.#monitor = monitor
    this.#now = now
    this.#startedAt = now()
    this.#yieldedAt = this.#startedAt
  }

  /** Milliseconds since the work began. */
  get elapsedMs(): number {
    return this.#now() - this.#startedAt
  }

  /** True if the call must stay on this instance. */
  get isBound(): boolean {
    return this.#isBound
  }

  /** Keeps the call on this instance, because an attempt to hand it off has failed. */
  bindToInstance(): void {
    this.#isBound = true
  }

  /**
   * Lets the event loop do other work if the handler has computed long enough, and otherwise returns undefined. Without
   * this, a handler that only computes and saves checkpoints would block the event loop.
   */
  yieldIfDue(): Promise<void> | undefined {
    if (this.#now() - this.#yieldedAt < workSliceMs / (1 + this.#monitor.waitingRunCount)) return undefined
    return this.#yield()
  }

  async #yield(): Promise<void> {
    await yieldForTick(this.#monitor)
    this.#yieldedAt = this.#now()
  }
}
