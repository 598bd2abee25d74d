/**
 * A store of states in Redis.
 *
 * @module @x/state-codec/redis
 */

import { StateError } from './state-error.ts'
import { defaultTimeoutMs, callStore } from './store/call-store.ts'
import type { StateStore } from './state-codec.ts'

/**
 * The part of a Redis client that the store uses: a connected client of `@redis/client` or `redis`, or a pool of them.
 */
export interface RedisClient {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** The prefix of every key. Default: `mcp:`. */
  readonly prefix?: string | undefined
  /** The time limit of a command, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
}

/**
 * Creates a store in Redis, over the application's own client. Redis removes expired values by itself.
 *
 * Its methods throw {@link StateError} with `unavailable` when Redis cannot be reached.
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): StateStore {
  const { prefix = 'mcp:', timeoutMs = defaultTimeoutMs } = options
  const send = (args: string[]): Promise<unknown> =>
    callStore({ name: 'Redis', timeoutMs }, (abortSignal) => client.sendCommand(args, { abortSignal }))
  return {
    async add(key, value, ttlMs) {
      // One command, so that two instances cannot both add the same key.
      const reply = await send(['SET', prefix + key, value, 'NX', 'PX', String(Math.max(1, Math.ceil(ttlMs)))])
      return reply !== null
    },
    async get(key) {
      const reply = await send(['GET', prefix + key])
      if (reply === null || reply === undefined) return undefined
      if (typeof reply === 'string') return reply
      throw new StateError('unavailable', 'Redis answered with bytes: give a client that answers with strings')
    },
    async delete(key) {
      await send(['DEL', prefix + key])
    },
    async expire(key, ttlMs) {
      // LT: a key that expires earlier stays as it is. Redis 7.0 and Valkey have it.
      await send(['PEXPIRE', prefix + key, String(Math.max(1, Math.ceil(ttlMs))), 'LT'])
    },
  }
}
