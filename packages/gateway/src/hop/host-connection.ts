import type { Connection } from '@x/exchange'
import type { CallingClient } from '@x/exchange/internal'
import type { HostIdentity } from './host-identity.ts'

/** A connection for one host, with the host that it serves. */
export interface HostConnection {
  readonly connection: Connection
  readonly client: AbandonableClient
  identity: HostIdentity
  /** The requests, streams and waiting calls that use the connection. */
  uses: number
  /** True while a call that may ask has exclusive use of the connection. */
  isAsked: boolean
  /** True until a host has used the connection for more than a description of the server. */
  isFresh: boolean
  /** The time of the last use, in milliseconds. */
  usedAt: number
  idleTimer: unknown
  readonly release: () => void
}

/** The hop as the client of an older server. It ends calls whose host does not answer. */
export class AbandonableClient {
  readonly #runs = new Map<string, (reason: unknown) => void>()

  readonly client: CallingClient = {
    onRoundAbandoned: (state, run) => {
      this.#runs.set(state, run)
      return () => this.#runs.delete(state)
    },
  }

  abandon(state: string): void {
    this.#runs.get(state)?.(new DOMException('The host did not answer', 'TimeoutError'))
  }
}
