/**
 * A change bus over Redis.
 *
 * @module @x/core/redis
 */

import type { ChangeBus } from './bus/change-bus.ts'
import type { ConnectFunction } from './bus/connection.ts'
import { createNetworkBus, type NetworkBusOptions } from './bus/network-bus.ts'

export { BusError, type BusErrorCode, isBusError } from './bus/change-bus.ts'
export type { NetworkBusOptions } from './bus/network-bus.ts'
export type { Change, ChangeBus, ChangeListener } from './bus/change-bus.ts'
export { encodeChange } from './bus/change-text.ts'

/** The part of a Redis client that the bus uses. Connected clients of `@redis/client` and `redis` have this type. */
export interface RedisClient {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
  /** Returns a new client with the same options, not yet connected. */
  duplicate(): RedisSubscriber
}

/** The part of the listening client that the bus uses. */
export interface RedisSubscriber {
  on(event: 'error', listener: (error: unknown) => void): unknown
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  sendCommand(args: string[]): Promise<unknown>
  destroy(): void
}

/** The options of {@link redisBus}. */
export interface RedisBusOptions extends NetworkBusOptions {
  /** The channel of this service: common to all its instances, and used by no other service. Default: `mcp:changes`. */
  readonly channel?: string | undefined
}

/** The size limit of a message. Redis allows more, but a change is a name and little data. */
const maxBytes = 65_536

/**
 * Makes a bus over Redis or Valkey. The bus publishes through the application's own client. While it has listeners, it
 * listens on one duplicate of that client.
 *
 * Publishing rejects with {@link BusError} `unavailable` when Redis cannot be reached in time, and with `too_large` for
 * data that exceeds a message of 64 KiB. If the topic alone exceeds this size, all listeners are notified of a gap
 * instead. When the listening connection is lost, it is opened again after a pause that grows with each failure. Then
 * all listeners are notified of a gap. The client's `reconnectStrategy` does not apply to the listening connection.
 *
 * @throws TypeError for an invalid channel, and RangeError for an invalid time.
 */
export function redisBus(client: RedisClient, options: RedisBusOptions = {}): ChangeBus {
  const channel = requireRedisChannel(options.channel ?? 'mcp:changes')
  return createNetworkBus(
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
}

function connectRedis(client: RedisClient, channel: string): ConnectFunction {
  return async ({ handleMessage, handleLoss }, signal) => {
    const subscriber = client.duplicate()
    // Without this listener the first error of the client would end the process. Here each error ends the connection,
    // and the session opens another. Every reconnection goes through the session, which notifies the listeners of a
    // gap.
    subscriber.on('error', handleLoss)
    signal.addEventListener('abort', () => subscriber.destroy())
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
