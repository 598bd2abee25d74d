import { Cancellation, type Clock, offCancel, onCancel, startBackgroundTimer, withSignalOf } from '@x/core'
import type { Call } from '@x/exchange'
import type { HopOptions } from './hop-options.ts'

/**
 * Milliseconds without a message after which an upstream counts as hanging. Connections of the HTTP transport have the
 * same limit. A host that waits less cancels its call.
 */
// limit: `timeoutMs` of an upstream | ms | a call without a message of its upstream | `-32603`
export const defaultTimeoutMs = 30 * 60_000
/** One timer for all calls costs less than one for each. */
const maxCheckIntervalMs = 60_000

/** Cancels running calls whose upstream stays silent. */
export class RunningCalls {
  readonly timeoutMs: number
  readonly #clock: Clock
  readonly #onAnswer: (() => void) | undefined
  // Bounded by the running calls, whose number the transports limit.
  readonly #calls = new Map<Cancellation, number>()
  #timer: unknown

  constructor({ runtime, timeoutMs = defaultTimeoutMs, onAnswer }: HopOptions) {
    this.#clock = runtime
    this.#onAnswer = onAnswer
    this.timeoutMs = timeoutMs
  }

  /**
   * Copies a call so that it is also cancelled when the upstream has been silent for too long, unless it is a stream.
   * Call `end` when the answer is there.
   */
  begin(call: Call, isLimited: boolean): { readonly call: Call; readonly end: () => boolean } {
    const cancellation = new Cancellation()
    const stop = (reason: unknown): void => cancellation.cancel(reason)
    onCancel(call, stop)
    if (isLimited) {
      this.#calls.set(cancellation, this.#clock.monotonicNow())
      this.#timer ??= this.#startTimer()
    }
    const { principal, context } = call
    const notify: Call['notify'] = (notification) => {
      if (this.#calls.has(cancellation)) this.#calls.set(cancellation, this.#clock.monotonicNow())
      this.#onAnswer?.()
      call.notify(notification)
    }
    const end = (): boolean => {
      offCancel(call, stop)
      this.#calls.delete(cancellation)
      return cancellation.reason === silence
    }
    return { call: withSignalOf({ principal, context, notify }, cancellation), end }
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #startTimer(): unknown {
    return startBackgroundTimer(this.#clock, () => this.#check(), Math.min(this.timeoutMs / 2, maxCheckIntervalMs))
  }

  #check(): void {
    const now = this.#clock.monotonicNow()
    for (const [cancellation, lastMessageAt] of this.#calls)
      if (now - lastMessageAt >= this.timeoutMs) cancellation.cancel(silence)
    this.#timer = this.#calls.size === 0 ? undefined : this.#startTimer()
  }
}

const silence = new DOMException('The upstream is silent', 'TimeoutError')
