/**
 * A change bus over Redis.
 *
 * @module @x/core/redis
 */

import { ignoreErrorEvents } from './ignore-error-events.ts'
import { importPeerDependency } from './import-peer-dependency.ts'
import type { ConnectFunction } from './bus/connection.ts'
import { createNetworkBus, type NetworkBus, type NetworkBusOptions } from './bus/network-bus.ts'
import { computeBackoffMs, raceWithCancellation } from './waiting.ts'

export { BusError, type BusErrorCode, isBusError } from './bus/change-bus.ts'
export type { NetworkBus, NetworkBusOptions } from './bus/network-bus.ts'
export type { Change, ChangeBus, ChangeListener } from './bus/change-bus.ts'
export { encodeChange } from './bus/change-text.ts'

/** As much of a Redis client as the bus uses. Connected clients of `@redis/client` and `redis` have this type. */
export interface RedisClient {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
  /** A new client with the same options, not yet connected. */
  duplicate(): RedisSubscriber | Promise<RedisSubscriber>
}

/** As much of the listening client as the bus uses. */
export interface RedisSubscriber {
  on(event: 'connect' | 'error', listener: (error?: unknown) => void): unknown
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  sendCommand(args: string[]): Promise<unknown>
  destroy(): void
}

/** The options of {@link redisBus}. */
export interface RedisBusOptions extends NetworkBusOptions {
  /** Channel of this service: common to all its instances, and used by no other service. Default: `mcp:changes`. */
  readonly channel?: string | undefined
}

/** Redis allows more, but a change is a name and little data. */
const maxBytes = 65_536

/**
 * Carries changes over Redis or Valkey. Takes a URL, or your own connected client, which is not closed. While it has
 * listeners, the bus listens on one duplicate of the client. A URL needs the package `@redis/client`.
 *
 * Publishing rejects with {@link BusError} `unavailable` when Redis cannot be reached in time, and with `too_large` for
 * data that exceeds a message of 64 KiB. If the topic alone exceeds that, all listeners are notified of a gap instead.
 * A lost listening connection is opened again after a pause that grows with each failure, and that ends when Redis
 * accepts a change; then all listeners are notified of a gap. The client's `reconnectStrategy` does not apply to it.
 *
 * @throws TypeError for an invalid channel, and RangeError for an invalid time.
 */
export function redisBus(redis: string | RedisClient, options: RedisBusOptions = {}): NetworkBus {
  const channel = requireRedisChannel(options.channel ?? 'mcp:changes')
  const { client, close } = openRedis(redis)
  const bus = createNetworkBus(
    {
      name: 'Redis',
      maxMessageBytes: maxBytes,
      connect: connectRedis(client, channel),
      send: (text, abortSignal) => client.sendCommand(['PUBLISH', channel, text], { abortSignal }),
      ping: (abortSignal) => client.sendCommand(['PING'], { abortSignal }),
      advice: 'is it running, and was the client connected?',
    },
    options,
  )
  return { ...bus, close }
}

/** A URL becomes a client, which `close` closes; a given client stays. */
export function openRedis<Client>(redis: string | Client): {
  readonly client: Client | RedisAtUrl
  close(): Promise<void>
} {
  if (typeof redis !== 'string') {
    ignoreErrorEvents(redis)
    return { client: redis, close: async () => {} }
  }
  const client = new RedisAtUrl(redis)
  return { client, close: async () => client.close() }
}

/** Pauses between attempts to connect, while a command waits: three seconds at most, in which a Redis can restart. */
const reconnectPauses = { firstMs: 100, maxMs: 2000 }
/** After as many, the command fails with the reason, such as a refused connection. */
const maxReconnectPauses = 5

/**
 * Connects with its first command, and again after a command whose signal aborts, because that is its time limit, or
 * that a replica rejects. Only a command in flight keeps the process running.
 */
export class RedisAtUrl {
  readonly #url: string
  #client: OwnClient | undefined
  #connecting: Promise<OwnClient> | undefined
  #commandCount = 0
  #isClosed = false

  constructor(url: string) {
    this.#url = url
  }

  async sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown> {
    this.#commandCount += 1
    let used: OwnClient | undefined
    try {
      const reply = this.#open().then((client) => {
        used = client
        return client.sendCommand(args, options)
      })
      const signal = options?.abortSignal
      return await (signal === undefined ? reply : raceWithCancellation(reply, signal))
    } catch (error) {
      // A connection that a firewall or a dead machine has dropped answers to no command, and the system may take a
      // quarter of an hour to notice.
      if (options?.abortSignal?.aborted === true) this.#leave(used ?? this.#client, destroyRedisClient)
      // After a fail-over, an open connection may lead to a primary that became a replica.
      else if (isReadOnlyReply(error)) this.#leave(used, closeAfterReplies)
      throw error
    } finally {
      this.#commandCount -= 1
    }
  }

  /** Another client of the URL, not yet connected. */
  duplicate(): Promise<RedisSubscriber> {
    return this.#create()
  }

  close(): void {
    this.#isClosed = true
    if (this.#client !== undefined) destroyRedisClient(this.#client)
  }

  /** Ends a client. The next command connects anew. */
  #leave(client: OwnClient | undefined, end: (client: OwnClient) => void): void {
    if (client === undefined) return
    end(client)
    if (this.#client !== client) return
    this.#client = undefined
    this.#connecting = undefined
  }

  async #create(): Promise<OwnClient> {
    const { createClient } = await importPeerDependency('@redis/client@6', () => import('@redis/client'), 'A URL')
    if (this.#isClosed) throw new Error('The client of this URL was closed')
    // The client pauses in a timer that keeps the process running, so it tries again only for a command.
    const reconnectStrategy = (retryCount: number): number | false =>
      this.#commandCount > 0 && retryCount < maxReconnectPauses && computeBackoffMs(retryCount, reconnectPauses)
    const client = createClient({ url: this.#url, socket: { reconnectStrategy } })
    ignoreErrorEvents(client)
    client.unref()
    return client
  }

  async #open(): Promise<OwnClient> {
    const connecting = (this.#connecting ??= this.#connect())
    let isOpen = false
    try {
      const client = await connecting
      isOpen = client.isOpen
      if (isOpen) return client
    } finally {
      if (!isOpen && this.#connecting === connecting) this.#connecting = undefined
    }
    // It lost its connection between two commands, and gave up.
    return this.#open()
  }

  async #connect(): Promise<OwnClient> {
    const client = await this.#create()
    this.#client = client
    await client.connect()
    return client
  }
}

function closeAfterReplies(client: OwnClient): void {
  client.close().catch(() => {})
}

function isReadOnlyReply(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('READONLY ')
}

interface OwnClient extends RedisSubscriber {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
  /** Waits for the replies to its commands. */
  close(): Promise<void>
  /** False once it has given up, or was closed. */
  readonly isOpen: boolean
}

/**
 * Closes a client also while it connects. `destroy` of `@redis/client` does not end an attempt to connect, and the
 * connection that comes of it would stay open and keep the process alive.
 */
export function destroyRedisClient(client: Pick<RedisSubscriber, 'on' | 'destroy'>): void {
  client.on('connect', () => client.destroy())
  client.destroy()
}

function connectRedis(client: Pick<RedisClient, 'duplicate'>, channel: string): ConnectFunction {
  return async ({ handleMessage, handleLoss }, signal) => {
    const subscriber = await client.duplicate()
    signal.throwIfAborted()
    // Without it, the first error of the client would end the process. Each error ends the connection, and the session
    // opens another: every reconnection goes through it, because it notifies the listeners of a gap.
    subscriber.on('error', handleLoss)
    signal.addEventListener('abort', () => destroyRedisClient(subscriber))
    await subscriber.connect()
    await subscriber.subscribe(channel, handleMessage)
    return { ping: () => subscriber.sendCommand(['PING']) }
  }
}

function requireRedisChannel(channel: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(channel)) return channel
  const rule = 'use up to 256 printable ASCII characters without spaces, as in mcp:changes'
  throw new TypeError(`channel is ${JSON.stringify(channel)}: ${rule}`)
}
