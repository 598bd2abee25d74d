import { isLimitError, startBackgroundTimer } from '@x/core'
import { limitErrorToMcp } from '@x/exchange'
import { errorResponse, type RpcError, type RpcRequest } from '@x/schema'
import { invalidStateError } from '@x/exchange/internal'
import type { HostIdentity } from './host-identity.ts'
import type { Deps } from './hop-options.ts'
import { begunError } from './upstream-error.ts'

/** Milliseconds that a host has to answer a question. `connectAny` has the same limit. */
// limit: open questions | ms | a question of an older upstream | the call ends
const answerTimeoutMs = 10 * 60_000

/** An older server's calls that wait for answers of their hosts, by the state that the hosts received. */
export class WaitingCalls<T extends { readonly identity: HostIdentity }> {
  readonly #calls = new Map<string, { readonly connection: T; readonly timer: unknown; readonly release: () => void }>()
  readonly #deps: Deps
  readonly #onEnd: (connection: T, state: string) => void

  /** `onEnd` is called for a call that ends without an answer. */
  constructor(deps: Deps, onEnd: (connection: T, state: string) => void) {
    this.#deps = deps
    this.#onEnd = onEnd
  }

  /** Keeps a call's connection until its host sends the answers. */
  hold(state: string, connection: T): void {
    const { ledger, runtime } = this.#deps
    const timer = startBackgroundTimer(runtime, () => this.#end(state), answerTimeoutMs)
    this.#calls.set(state, { connection, timer, release: () => {} })
    try {
      const release = ledger.take('waiting_calls', connection.identity.callerKey)
      this.#calls.set(state, { connection, timer, release })
    } catch (error) {
      this.#end(state)
      // Only the question shows that a call waits, so by then it may have acted.
      throw isLimitError(error) ? begunError(limitErrorToMcp(error)) : error
    }
  }

  /** Finds a waiting call's connection. Undefined for a state that is unknown or belongs to another host. */
  resume(state: unknown, hostKey: string): T | undefined {
    const connection = typeof state === 'string' ? this.#calls.get(state)?.connection : undefined
    return connection?.identity.key === hostKey ? this.#remove(String(state)) : undefined
  }

  endAll(): void {
    for (const state of this.#calls.keys()) this.#end(state)
  }

  #end(state: string): void {
    const connection = this.#remove(state)
    if (connection !== undefined) this.#onEnd(connection, state)
  }

  #remove(state: string): T | undefined {
    const waiting = this.#calls.get(state)
    this.#deps.runtime.clearTimeout(waiting?.timer)
    this.#calls.delete(state)
    waiting?.release()
    return waiting?.connection
  }
}

/** Answers a retry whose call does not wait here any more. Only the log has the reason. */
export function rejectLostRetry({ id, method }: RpcRequest, { log, name }: Deps): RpcError {
  const message = 'The call of this requestState does not wait in this process: it has ended, or another process has it'
  log({ level: 'warn', code: 'call_lost', method, name, requestId: id, message })
  return errorResponse(id, invalidStateError())
}
