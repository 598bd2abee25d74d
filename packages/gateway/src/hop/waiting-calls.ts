import { type Ledger, type Runtime, startBackgroundTimer } from '@x/core'
import type { HostConnection } from './host-connection.ts'

/** The time limit for the answer of a host to a question, in milliseconds. `connectAny` has the same limit. */
const answerTimeoutMs = 10 * 60_000

/** A call that waits for the answers of its host, with its connection. */
interface WaitingCall {
  readonly entry: HostConnection
  readonly timer: unknown
  readonly release: () => void
}

/** The calls of an older server that wait for the answers of their hosts, by the state that the hosts received. */
export class WaitingCalls {
  readonly #calls = new Map<string, WaitingCall>()
  readonly #options: WaitingCallsOptions

  constructor(options: WaitingCallsOptions) {
    this.#options = options
  }

  /** Keeps the connection of a call until its host sends the answers. */
  hold(state: string, entry: HostConnection): void {
    const { ledger, runtime } = this.#options
    const timer = startBackgroundTimer(runtime, () => this.#end(state), answerTimeoutMs)
    this.#calls.set(state, { entry, timer, release: () => {} })
    try {
      const release = ledger.take('waiting_calls', entry.identity.callerKey)
      this.#calls.set(state, { entry, timer, release })
    } catch (error) {
      this.#end(state)
      throw error
    }
  }

  /** Returns the connection of a waiting call. Undefined for a state that is unknown or belongs to another host. */
  resume(state: unknown, hostKey: string): HostConnection | undefined {
    const waiting = typeof state === 'string' ? this.#calls.get(state) : undefined
    if (waiting === undefined || waiting.entry.identity.key !== hostKey) return undefined
    this.#forget(String(state), waiting)
    return waiting.entry
  }

  endAll(): void {
    for (const state of this.#calls.keys()) this.#end(state)
  }

  /** Ends a call whose host does not answer. The server is notified of the cancellation. */
  #end(state: string): void {
    const waiting = this.#calls.get(state)
    if (waiting === undefined) return
    this.#forget(state, waiting)
    waiting.entry.client.abandon(state)
    this.#options.onEnd(waiting.entry)
  }

  #forget(state: string, { timer, release }: WaitingCall): void {
    this.#options.runtime.clearTimeout(timer)
    this.#calls.delete(state)
    release()
  }
}

interface WaitingCallsOptions {
  readonly ledger: Ledger
  readonly runtime: Runtime
  /** Called with the connection of a call that has ended without an answer. */
  readonly onEnd: (entry: HostConnection) => void
}
