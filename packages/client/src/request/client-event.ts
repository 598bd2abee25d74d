import { callListener, errorRecord, type Log } from '@x/core'
import type { CallOptions } from './call-options.ts'
import type { RoundView } from './round-options.ts'

/** The call of a client that an event is about. */
export interface ObservedCall {
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target: string | undefined
  /**
   * The options of the call. An observer finds its own call by one of them, such as the `signal`. They may contain
   * secrets in `meta`.
   */
  readonly options: CallOptions
}

/** The events of a client, by type. Apart from `options`, no event contains arguments, answers, results or states. */
export interface ClientEvents {
  /** A call of a tool, a prompt or a resource has ended, with all its rounds. */
  call: ObservedCall & {
    /** The number of requests that were sent, without those that were sent again. */
    readonly roundCount: number
    readonly durationMs: number
    /** The error with which the call rejected. Undefined for a result, even one with `isError`. */
    readonly error: unknown
  }
  /** The response to one request of a call has arrived. */
  round: RoundView & ObservedCall
  /** A handler has answered a question of the server. */
  answer: ObservedCall & {
    readonly key: string
    /** The method of the input request, such as `elicitation/create`. */
    readonly kind: string
    /** The answer of the user. `accept` for answers of other kinds than elicitation. */
    readonly action: 'accept' | 'decline' | 'cancel' | 'invalid'
    readonly durationMs: number
  }
  /** A request is sent again after a failure. */
  resend: ObservedCall & {
    /** The code of the failure: the `data.reason` of the server's error, or the code of the transport's error. */
    readonly reason: string
    /** The number of requests that were sent so far. */
    readonly attempt: number
    /** Milliseconds before the request is sent again. */
    readonly pauseMs: number
  }
  /** A result that can be cached was read. */
  cache: { readonly method: string; readonly isHit: boolean }
  /** A subscription was opened, opened again after an interruption, or has ended. */
  subscription: { readonly state: 'opened' | 'reopened' | 'closed' }
}

/** One event of a client. `type` determines the other members. */
export type ClientEvent = {
  [Type in keyof ClientEvents]: { readonly type: Type } & ClientEvents[Type]
}[keyof ClientEvents]

/** Receives the events of a client. */
export type ClientObserver = (event: ClientEvent) => void

/** The source of a client's events. */
export interface ClientEventSource {
  /** Passes an event to all observers. Undefined without an observer, so that `emit?.({ … })` then creates no event. */
  readonly emit: ClientObserver | undefined
  /** Sets the observers. It is called once, after the extensions have started. */
  observe(observers: readonly ClientObserver[]): void
}

/** Creates an event source without observers. An error of an observer is logged, and changes no call. */
export function createClientEventSource(log: Log): ClientEventSource {
  let emit: ClientObserver | undefined
  const reportObserver = (error: unknown): void => log(errorRecord(error, { method: 'extension' }))
  return {
    get emit() {
      return emit
    },
    observe: (observers) => {
      if (observers.length === 0) return
      emit = (event) => {
        for (const observer of observers) callListener(observer, event, reportObserver)
      }
    },
  }
}
