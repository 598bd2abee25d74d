/**
 * Keeps states in Redis.
 *
 * @module @x/state-codec/redis
 */

import { maxTimerMs, type OptionTable, resolveOptions } from '@x/core'
import { openRedis } from '@x/core/redis'
import { StateError } from './state-error.ts'
import { defaultTimeoutMs, runStoreOperation } from './store/call-store.ts'
import type { StateStore } from './state-codec.ts'
import {
  findReachedLimit,
  type OwnerQuotaOptions,
  ownerQuotaError,
  ownerQuotaOf,
  quotaOptionTable,
  type SharedOperations,
  createOwnerStore,
} from './store/owner-quota.ts'

export type { OwnerQuotaOptions } from './store/owner-quota.ts'

/**
 * As much of a Redis client as the store uses. A connected client of `@redis/client` or `redis` has it, and so does a
 * pool of such clients.
 */
export interface RedisClient {
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions extends OwnerQuotaOptions {
  /** Begins every key. Default: `mcp:`. For a Redis cluster, use a prefix with a hash tag, such as `{mcp}:`. */
  readonly prefix?: string | undefined
  /** Time limit of a command, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
}

const storeOptionTable = {
  ...quotaOptionTable,
  prefix: 'mcp:',
  timeoutMs: { default: defaultTimeoutMs, max: maxTimerMs },
} satisfies OptionTable<RedisStoreOptions>

/** A store in Redis. A client that it made of a URL is its own. */
export interface RedisStore extends StateStore {
  /** Closes the client. Does nothing for a client of the application. */
  close(): Promise<void>
}

/**
 * Keeps states in Redis 7.0 or later, or Valkey. Takes a URL, or your own connected client, which is not closed. A URL
 * needs the package `@redis/client`. Redis itself removes expired values. Scripts (`EVAL`) count the values of each
 * owner, in a time proportional to the number of values that have expired.
 *
 * Its methods throw {@link StateError} with `unavailable` when Redis cannot be reached, and with `quota` for an owner
 * whose quota is full.
 *
 * @throws RangeError for an invalid quota.
 */
export function redisStore(redis: string | RedisClient, options: RedisStoreOptions = {}): RedisStore {
  const { prefix, timeoutMs, ...quotas } = resolveOptions(options, storeOptionTable, 'redisStore')
  const quota = ownerQuotaOf(quotas)
  const { client, close } = openRedis(redis)
  const send: SendCommand = (args) =>
    runStoreOperation({ name: 'Redis', timeoutMs }, (abortSignal) => client.sendCommand(args, { abortSignal }))
  const operations = createRedisOperations(send, prefix)
  return {
    async add(key, value, ttlMs) {
      // One command, so that two instances cannot both add the same key.
      return (await send(['SET', prefix + key, prependOwner('', value), 'NX', 'PX', toWholeMsText(ttlMs)])) !== null
    },
    ...operations,
    forOwner: (owner) =>
      createOwnerStore(owner, operations, async (ownerDigest, key, value, ttlMs) => {
        const entryLength = key.length + value.length
        const storedText = prependOwner(`${ownerDigest}:${entryLength}`, value)
        const keys = [prefix + key, ...buildOwnerKeys(prefix, ownerDigest)]
        const limits = [entryLength, quota.entryCount, quota.characterCount].map(String)
        const values = [storedText, toWholeMsText(ttlMs), `${entryLength}:${key}`, ...limits]
        const reply = await evaluateScript(send, addScript, keys, values)
        const [outcome, entryCount = 0, characterCount = 0, soonestExpiryMs = 0] = reply
        const reachedLimit =
          outcome === rejectedReply ? findReachedLimit({ entryCount, characterCount }, quota, entryLength) : undefined
        if (reachedLimit !== undefined) throw ownerQuotaError('The store in Redis', reachedLimit, soonestExpiryMs)
        return outcome === addedReply
      }),
    close,
  }
}

type SendCommand = (args: string[]) => Promise<unknown>

function createRedisOperations(send: SendCommand, prefix: string): SharedOperations {
  const readOwnedEntry = async (key: string): Promise<OwnedEntry | undefined> => {
    const entryHead = await send(['GETRANGE', prefix + key, '0', String(maxOwnerPrefixLength)])
    return typeof entryHead === 'string' ? parseOwnedEntry(entryHead) : undefined
  }
  const runOwnerScript = (
    script: string,
    key: string,
    { ownerPrefix, owner, entryLength }: OwnedEntry,
    values: readonly string[] = [],
  ) => {
    const keys = [prefix + key, ...buildOwnerKeys(prefix, owner)]
    return evaluateScript(send, script, keys, [ownerPrefix, `${entryLength}:${key}`, String(entryLength), ...values])
  }
  return {
    async get(key) {
      const reply = await send(['GET', prefix + key])
      if (reply === null || reply === undefined) return undefined
      if (typeof reply === 'string') return removeOwner(reply)
      throw new StateError('unavailable', 'Redis answered with bytes: give a client that answers with strings')
    },
    async delete(key) {
      const ownedEntry = await readOwnedEntry(key)
      await (ownedEntry === undefined ? send(['DEL', prefix + key]) : runOwnerScript(deleteScript, key, ownedEntry))
    },
    async expire(key, ttlMs) {
      const ownedEntry = await readOwnedEntry(key)
      // `LT` keeps an earlier expiry. Redis 7.0 and Valkey have it.
      if (ownedEntry === undefined) await send(['PEXPIRE', prefix + key, toWholeMsText(ttlMs), 'LT'])
      else await runOwnerScript(expireScript, key, ownedEntry, [toWholeMsText(ttlMs)])
    },
  }
}

async function evaluateScript(
  send: SendCommand,
  script: string,
  keys: readonly string[],
  values: readonly string[],
): Promise<readonly number[]> {
  const reply = await send(['EVAL', script, String(keys.length), ...keys, ...values])
  return Array.isArray(reply) ? reply.map(Number) : []
}

/** Two keys: the sorted set with the owner's values by expiry, and the number of their characters. */
function buildOwnerKeys(prefix: string, owner: string): readonly string[] {
  return [`${prefix}owner:${owner}`, `${prefix}owner-characters:${owner}`]
}

const addedReply = 1
const rejectedReply = -1

const currentTimeLua = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`

// A member of an owner's sorted set is the size of a value, a colon and the key of the value. Its score is when the
// value expires.
const addScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return {0} end
${currentTimeLua}
local text, ttl, member, size = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local freed = 0
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  freed = freed + tonumber(string.match(ended, '^%d+'))
end
if freed > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('DECRBY', KEYS[3], freed)
end
local entries = redis.call('ZCARD', KEYS[2])
if entries == 0 then redis.call('DEL', KEYS[3]) end
local characters = tonumber(redis.call('GET', KEYS[3]) or '0')
if entries >= tonumber(ARGV[5]) or characters + size > tonumber(ARGV[6]) then
  local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return {${rejectedReply}, entries, characters, tonumber(first[2] or now) - now}
end
redis.call('SET', KEYS[1], text, 'PX', ttl)
redis.call('ZADD', KEYS[2], now + ttl, member)
redis.call('INCRBY', KEYS[3], size)
if redis.call('PTTL', KEYS[2]) < ttl then redis.call('PEXPIRE', KEYS[2], ttl) end
redis.call('PEXPIRE', KEYS[3], redis.call('PTTL', KEYS[2]))
return {${addedReply}}`

// The owner of the value was read in an earlier command. If the key has a value of another owner now, the script
// changes nothing.
const ownerGuardLua = `if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return {0} end`

const deleteScript = `
${ownerGuardLua}
redis.call('DEL', KEYS[1])
if redis.call('ZREM', KEYS[2], ARGV[2]) == 1 and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('DECRBY', KEYS[3], ARGV[3])
end
return {1}`

const expireScript = `
${ownerGuardLua}
${currentTimeLua}
redis.call('PEXPIRE', KEYS[1], ARGV[4], 'LT')
redis.call('ZADD', KEYS[2], 'XX', 'LT', now + tonumber(ARGV[4]), ARGV[2])
return {1}`

interface OwnedEntry {
  readonly owner: string
  readonly entryLength: number
  readonly ownerPrefix: string
}

const ownerMark = '\u0000'

/** Two marks, a digest of 43 characters, a colon and a size. */
const maxOwnerPrefixLength = 64

/** A value without an owner stays unchanged, unless it begins with the mark of an owner. */
function prependOwner(owner: string, value: string): string {
  return owner === '' && !value.startsWith(ownerMark) ? value : `${ownerMark}${owner}${ownerMark}${value}`
}

function removeOwner(text: string): string {
  return text.startsWith(ownerMark) ? text.slice(text.indexOf(ownerMark, 1) + 1) : text
}

function parseOwnedEntry(text: string): OwnedEntry | undefined {
  if (!text.startsWith(ownerMark)) return undefined
  const head = text.slice(0, text.indexOf(ownerMark, 1) + 1)
  const [owner = '', lengthText = ''] = head.slice(1, -1).split(':')
  return owner === '' ? undefined : { owner, entryLength: Number(lengthText), ownerPrefix: head }
}

function toWholeMsText(ttlMs: number): string {
  return String(Math.max(1, Math.ceil(ttlMs)))
}
