import type { Call, Connection } from '@x/exchange'
import { findMethodRow, type RpcRequest, type RpcResponse } from '@x/schema'
import type { RequestSender } from './send-request.ts'

/** Replaced connections whose calls may still run. With one more, the oldest is closed. */
const maxReplaced = 4

/** All hosts' connection to a server of revision 2026-07-28, and earlier ones whose calls still run. */
export class ConnectionForAll {
  readonly #sender: RequestSender
  readonly #close: (connection: Connection) => Promise<void>
  // Bounded by `maxReplaced`, and the current one.
  readonly #calls = new Map<Connection, number>()
  #current: Connection | undefined

  constructor(sender: RequestSender, close: (connection: Connection) => Promise<void>) {
    this.#sender = sender
    this.#close = close
  }

  get current(): Connection | undefined {
    return this.#current
  }

  use(connection: Connection): void {
    this.#current = connection
    this.#calls.set(connection, 0)
  }

  async send(connection: Connection, request: RpcRequest, call: Call): Promise<RpcResponse> {
    // A stream is opened again, so it does not keep a connection open.
    const uses = findMethodRow(request.method)?.isStreaming === true ? 0 : 1
    this.#count(connection, uses)
    try {
      return await this.#sender.send(connection.exchange, request, call)
    } finally {
      this.#count(connection, -uses)
      this.#closeReplaced()
    }
  }

  /** Gives the next call another connection. Calls of this one may end, because they may belong to other callers. */
  replace(): void {
    this.#current = undefined
    this.#closeReplaced()
  }

  async close(): Promise<void> {
    this.#current = undefined
    await Promise.all(Array.from(this.#calls.keys(), (connection) => this.#drop(connection)))
  }

  #count(connection: Connection, change: number): void {
    const calls = this.#calls.get(connection)
    if (calls !== undefined) this.#calls.set(connection, calls + change)
  }

  #closeReplaced(): void {
    const replaced = [...this.#calls].filter(([connection]) => connection !== this.#current)
    for (const [index, [connection, calls]] of replaced.entries())
      if (calls === 0 || index < replaced.length - maxReplaced) void this.#drop(connection)
  }

  async #drop(connection: Connection): Promise<void> {
    this.#calls.delete(connection)
    await this.#close(connection)
  }
}
