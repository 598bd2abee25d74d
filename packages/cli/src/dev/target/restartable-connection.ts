import { isAuthError } from '@x/auth/client'
import { raceWithCancellation } from '@x/core'
import type { Call, Connection, ConnectionPeer, ConnectionState, Exchange } from '@x/exchange'
import { ConnectionStateSource } from '@x/exchange/internal'
import type { AnyConnection } from '@x/legacy/client'
import { findMethodRow, type RpcNotification, type RpcRequest } from '@x/schema'
import { followChanges } from './follow-changes.ts'

export interface RestartableServer {
  /** Opens a connection to the process that runs now. */
  open(): AnyConnection
  waitUntilReady(): Promise<void>
  /** Called before each request is sent. */
  onRequest(request: RpcRequest): void
}

interface Slot {
  readonly connection: AnyConnection
  runningCount: number
  readonly replaced: AbortController
}

/** For the requests of a process over stdio that was replaced. */
const replacedMs = 1000

/**
 * Outlives the processes of its server. Requests wait while the server restarts, and then use a new connection. The
 * replaced one is closed when its requests have ended, because a client may be sending them again.
 */
export class RestartableConnection implements Connection {
  readonly #server: RestartableServer
  readonly #closeController = new AbortController()
  readonly #states = new ConnectionStateSource()
  readonly #closing = new Set<Promise<void>>()
  #slot: Slot | undefined

  constructor(server: RestartableServer) {
    this.#server = server
  }

  get url(): string | undefined {
    return this.#slot?.connection.url
  }

  get peer(): ConnectionPeer | undefined {
    return this.#slot?.connection.peer
  }

  get state(): ConnectionState {
    return this.#states.state
  }

  /** What a user has to do until requests continue. */
  get pendingLogin(): string | undefined {
    const { status, loginUrl, reason } = this.state
    if (status !== 'login_needed' || !isAuthError(reason) || reason.code !== 'login_pending') return undefined
    const { message, addedScopes = [] } = reason
    const need = addedScopes.length === 0 ? 'a login' : `${addedScopes.join(' ')}, which your login lacks`
    return `The server requires ${need}: ${loginUrl === undefined ? message : `visit ${loginUrl}`}`
  }

  get process(): AnyConnection['process'] {
    return this.#slot?.connection.process
  }

  readonly onStateChange = this.#states.onStateChange

  get closed(): AbortSignal {
    return this.#closeController.signal
  }

  readonly exchange: Exchange = async (request, call) => {
    if (findMethodRow(request.method)?.isStreaming === true)
      return followChanges(request, call, async () => {
        const { connection, replaced } = await this.#waitForSlot(call)
        return { replaced: replaced.signal, exchange: connection.exchange }
      })
    const slot = await this.#waitForSlot(call)
    slot.runningCount += 1
    try {
      this.#server.onRequest(request)
      return await slot.connection.exchange(request, call)
    } finally {
      slot.runningCount -= 1
      this.#closeIfUnused(slot)
    }
  }

  readonly notify = async (notification: RpcNotification, call: Call): Promise<void> => {
    await this.#server.waitUntilReady()
    await this.#openSlot().connection.notify(notification, call)
  }

  /** Makes the next request use a new connection. */
  renew(): void {
    const slot = this.#slot
    this.#slot = undefined
    if (slot === undefined) return
    slot.replaced.abort(new Error('Another process of the server takes over'))
    this.#closeIfUnused(slot)
    // The calls of a killed process fail as they do when it crashes. Closing the connection would forbid to repeat
    // them.
    const { process } = slot.connection
    if (slot.runningCount > 0 && process !== undefined) setTimeout(() => process.kill(), replacedMs).unref()
  }

  async close(): Promise<void> {
    const reason = new Error('mcpx dev has ended')
    this.#states.close(reason)
    this.#closeController.abort(reason)
    await this.#slot?.connection.close()
    await Promise.all(this.#closing)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #waitForSlot(call: Call): Promise<Slot> {
    await raceWithCancellation(this.#server.waitUntilReady(), call)
    this.closed.throwIfAborted()
    return this.#openSlot()
  }

  #openSlot(): Slot {
    if (this.#slot !== undefined) return this.#slot
    const slot: Slot = { connection: this.#server.open(), runningCount: 0, replaced: new AbortController() }
    slot.connection.onStateChange((state) => {
      // The end of one process is not the end of this connection.
      if (this.#slot === slot) this.#states.set(state.status === 'closed' ? { ...state, status: 'restarting' } : state)
    })
    this.#slot = slot
    return slot
  }

  #closeIfUnused(slot: Slot): void {
    if (!slot.replaced.signal.aborted || slot.runningCount > 0) return
    const closing = slot.connection.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
