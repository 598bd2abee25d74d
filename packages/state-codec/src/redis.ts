import { StateError } from './state-error.ts'
import { defaultTimeoutMs, reach } from './store/reach.ts'
import type { StateStore } from './store/state-store.ts'

/** What is used of a Redis client: a connected one of `@redis/client` or `redis`, or a pool of them, is one. */
export interface RedisClient {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
}

/** The options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** What every key begins with. Default: `mcp:`. */
  readonly prefix?: string | undefined
  /** How long Redis may take, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
}

/**
 * A store in Redis, through the application's own client. Redis forgets what has expired by itself.
 *
 * Its methods throw {@link StateError} with `unavailable` when Redis cannot be reached.
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): StateStore {
  const { prefix = 'mcp:', timeoutMs = defaultTimeoutMs } = options
  const send = (args: string[]): Promise<unknown> =>
    reach({ name: 'Redis', timeoutMs }, (abortSignal) => client.sendCommand(args, { abortSignal }))
  return {
    async add(key, value, ttlMs) {
      // One command: two instances cannot both be told that they were first.
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
  }
}
