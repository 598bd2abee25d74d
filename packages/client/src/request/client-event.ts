import { callListener, errorRecord, type Log } from '@x/core'
import type { CallOptions } from './call-options.ts'
import type { RoundView } from './round-options.ts'

/** Which call an event is about. */
export interface ObservedCall {
  readonly method: string
  /** Name of the tool or prompt, or URI of the resource. */
  readonly target: string | undefined
  /** An observer finds its own call by one of these, such as the `signal`. Beware: `meta` may contain secrets. */
  readonly options: CallOptions
}

/** A client's events, by type. Apart from `options`, no event contains arguments, answers, results or states. */
export interface ClientEvents {
  /** A call of a tool, a prompt or a resource has ended, with all its rounds. */
  call: ObservedCall & {
    /** Requests that were sent, not counting those sent again. */
    readonly roundCount: number
    readonly durationMs: number
    /** What the call rejected with. Undefined for a result, even one with `isError`. */
    readonly error: unknown
  }
  /** A response to one request of a call has arrived. */
  round: RoundView & ObservedCall
  /** A handler has answered a question of the server. */
  answer: ObservedCall & {
    readonly key: string
    /** Method of the input request, such as `elicitation/create`. */
    readonly kind: string
    /** What the user answered. `accept` for answers of other kinds than elicitation. */
    readonly action: 'accept' | 'decline' | 'cancel' | 'invalid'
    readonly durationMs: number
  }
  /** A request is sent again after a failure. */
  resend: ObservedCall & {
    /** Code of the failure: `data.reason` of the server's error, or the code of the transport's. */
    readonly reason: string
    /** Requests that were sent so far. */
    readonly attempt: number
    /** Milliseconds before the request is sent again. */
    readonly pauseMs: number
  }
  /** A cacheable result was read. */
  cache: { readonly method: string; readonly isHit: boolean }
  /** A subscription was opened, opened again after an interruption, or has ended. */
  subscription: { readonly state: 'opened' | 'reopened' | 'closed' }
}

/** One event of a client; `type` determines the other members. */
export type ClientEvent = {
  [Type in keyof ClientEvents]: { readonly type: Type } & ClientEvents[Type]
}[keyof ClientEvents]

export type ClientObserver = (event: ClientEvent) => void

/** Starts without observers. What an observer throws is logged, and changes no call. */
export class ClientEventSource {
  readonly #log: Log
  #emit: ClientObserver | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * Passes an event to all observers. Undefined without one, so that `emit?.({ … })` then does not even create the
   * event.
   */
  get emit(): ClientObserver | undefined {
    return this.#emit
  }

  /** Sets the observers, once, after the extensions have started. */
  observe(observers: readonly ClientObserver[]): void {
    if (observers.length === 0) return
    const reportObserver = (error: unknown): void => this.#log(errorRecord(error, { method: 'extension' }))
    this.#emit = (event) => {
      for (const observer of observers) callListener(observer, event, reportObserver)
    }
  }
}
