/**
 * A change bus over Redis.
 *
 * @module @x/core/redis
 */

import { importPeerDependency } from './import-peer-dependency.ts'
import type { ConnectFunction } from './bus/connection.ts'
import { createNetworkBus, type NetworkBus, type NetworkBusOptions } from './bus/network-bus.ts'

export { BusError, type BusErrorCode, isBusError } from './bus/change-bus.ts'
export type { NetworkBus, NetworkBusOptions } from './bus/network-bus.ts'
export type { Change, ChangeBus, ChangeListener } from './bus/change-bus.ts'
export { encodeChange } from './bus/change-text.ts'

/** As much of a Redis client as the bus uses. Connected clients of `@redis/client` and `redis` have this type. */
export interface RedisClient {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
  /** A new client with the same options, not yet connected. */
  duplicate(): RedisSubscriber
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
 * A lost listening connection is opened again after a pause that grows with each failure; then all listeners are
 * notified of a gap. The client's `reconnectStrategy` does not apply to it.
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

/**
 * A URL becomes a client, which `close` closes; a given client stays. The client of a URL connects with its first
 * command, and only a command in flight keeps the process running.
 */
export function openRedis<Client>(redis: string | Client): {
  readonly client: Client | RedisAtUrl
  close(): Promise<void>
} {
  if (typeof redis !== 'string') return { client: redis, close: async () => {} }
  const client = redisAtUrl(redis)
  return { client, close: async () => client.close() }
}

/** A client that this process creates for a URL. */
export interface RedisAtUrl extends Pick<RedisClient, 'sendCommand'> {
  /** Another client of the URL, not yet connected. */
  duplicate(): Promise<RedisSubscriber>
  close(): void
}

function redisAtUrl(url: string): RedisAtUrl {
  let isClosed = false
  const create = async () => {
    const { createClient } = await importPeerDependency('@redis/client@6', () => import('@redis/client'), 'A URL')
    if (isClosed) throw new Error('The client of this URL was closed')
    const client = createClient({ url })
    // Without it, a connection that breaks would end the process. A command that fails has its own error.
    client.on('error', () => {})
    client.unref()
    return client
  }
  let client: Awaited<ReturnType<typeof create>> | undefined
  let opening: Promise<unknown> | undefined
  const open = async (): Promise<void> => {
    client = await create()
    await client.connect()
  }
  return {
    async sendCommand(args, options) {
      opening ??= open().catch((error: unknown) => {
        opening = undefined
        throw error
      })
      await opening
      return client?.sendCommand(args, options)
    },
    duplicate: create,
    close() {
      isClosed = true
      if (client !== undefined) destroyRedisClient(client)
    },
  }
}

/**
 * Closes a client also while it connects. `destroy` of `@redis/client` does not end an attempt to connect, and the
 * connection that comes of it would stay open and keep the process alive.
 */
export function destroyRedisClient(client: Pick<RedisSubscriber, 'on' | 'destroy'>): void {
  client.on('connect', () => client.destroy())
  client.destroy()
}

function connectRedis(client: Pick<RedisClient | RedisAtUrl, 'duplicate'>, channel: string): ConnectFunction {
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
