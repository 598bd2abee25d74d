import {
  type ChangeBus,
  type Log,
  platformRuntime,
  withTimeout,
  type OptionTable,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import { encodeChange, openRedis, redisBus, type RedisClient } from '@x/core/redis'
import type { EngineListener, TaskEngine } from '../engine.ts'
import { cancelTopic, EngineNotifications, workTopic } from '../engine-notifications.ts'
import { createLazyEngine, createLoggedEngine, defaultLeaseMs, errorReporterOf } from '../lazy-engine.ts'
import { createRedisRequests, type RunScript } from './redis-requests.ts'

/** Options of {@link redisEngine}. */
export interface RedisEngineOptions {
  /**
   * Start of every key, and of the channel: common to all instances of a service, and used by no other service. Up to
   * 128 printable ASCII characters without spaces. In a cluster it must have braces, as `{shop}:`, which make all keys
   * one slot. Default: `{mcp-tasks}:`.
   */
  readonly prefix?: string | undefined
  /** Milliseconds for which a claim is valid. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /** Time limit of a script, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /** Receives failures of background work. Default: the server's log, or else a line each on standard error. */
  readonly log?: Log | undefined
}

const engineOptionTable = {
  prefix: '{mcp-tasks}:',
  leaseMs: defaultLeaseMs,
  timeoutMs: 10_000,
  log: undefined,
} satisfies OptionTable<RedisEngineOptions>

/**
 * Stores tasks in Redis 7 or Valkey, for several instances. Each function is one script, except `list` and `count`,
 * which may be several: a task that changes meanwhile may be counted twice or not at all. The channel that notifies the
 * workers belongs to the same prefix. Takes a URL, or the application's own connected client of `@redis/client` or
 * `redis`, which is not closed. It is a client of one Redis: redirections of a cluster are not followed.
 *
 * Redis stores what it was configured to store: with `appendfsync everysec` a crash may lose the last second, and a
 * fail-over may lose acknowledged writes. The first call rejects unless `maxmemory-policy` is `noeviction`, because
 * Redis would delete tasks otherwise. A URL needs the package `@redis/client`. Throws `RangeError` for an invalid
 * option, and `TypeError` for a client of a cluster.
 *
 * @example
 * tasks({ store: redisEngine('redis://localhost:6379', { leaseMs: 30_000 }) })
 */
export function redisEngine(redis: string | RedisClient, options: RedisEngineOptions = {}): TaskEngine {
  const resolved = resolveOptions(options, engineOptionTable, 'redisEngine')
  const { prefix } = resolved
  if (!/^[\x21-\x7e]{1,128}$/.test(prefix))
    throw new RangeError(`prefix is ${JSON.stringify(prefix)}: use up to 128 printable ASCII characters without spaces`)
  if (typeof redis !== 'string') requireSingleRedis(redis)
  return createLoggedEngine(resolved, (logged) =>
    createLazyEngine(logged.leaseMs, (signal) => openEngine(redis, logged, signal)),
  )
}

function requireSingleRedis({ sendCommand }: RedisClient): void {
  // A client of a cluster or of Sentinel takes more before the command: its key, and whether it only reads.
  if (sendCommand.length <= 2) return
  const advice = 'give it the client of one Redis, from createClient, or the URL of a proxy in front of the cluster'
  throw new TypeError(`redisEngine was given a client of a cluster or of Sentinel: ${advice}`)
}

async function openEngine(
  redis: string | RedisClient,
  options: ResolvedOptions<RedisEngineOptions, typeof engineOptionTable>,
  signal: AbortSignal,
): Promise<TaskEngine> {
  const { prefix, leaseMs, timeoutMs } = options
  const onError = errorReporterOf(options, 'Redis')
  const { client, close } = openRedis(redis)
  signal.addEventListener('abort', close)
  try {
    const createTimeoutError = (): Error => new Error(`Redis did not answer within ${timeoutMs} ms`)
    // While it is disconnected, a client queues commands without a limit.
    const send: SendCommand = (args) =>
      withTimeout({ timeoutMs, clock: platformRuntime, createTimeoutError }, (abortSignal) =>
        client.sendCommand(args, { abortSignal }),
      )
    await requireNoEviction(send)
    const bus = redisBus(client, {
      channel: `${prefix}changes`,
      timeoutMs,
      keepAliveMs,
      log: ({ err }) => err !== undefined && onError(err),
    })
    const notifications = new EngineNotifications(bus)
    return {
      ...createRedisRequests(createScriptRunner(send, prefix), leaseMs, cancelText),
      leaseMs,
      notifications,
      listen: (listener) => notifications.addListening(listenForWork(bus, listener)),
      ping: () => requireNoEviction(send),
      close: async () => {
        await notifications.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
}

type SendCommand = (args: string[]) => Promise<unknown>

async function requireNoEviction(send: SendCommand): Promise<void> {
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(await send(['INFO', 'memory'])))?.[1] ?? 'unknown'
  if (policy === 'noeviction') return
  const advice = 'set `maxmemory-policy noeviction`, or give tasks a Redis of their own'
  throw new Error(`Redis has the maxmemory-policy ${policy}, so it may delete tasks: ${advice}`)
}

/** Maximum bytes of a notification. A task's id is far shorter. */
const maxNotificationBytes = 65_536

function createScriptRunner(send: SendCommand, prefix: string): RunScript {
  const workText = encodeChange({ topic: workTopic }, maxNotificationBytes)
  return async ({ text, digest }, ...values) => {
    const rest = ['1', `${prefix}due`, prefix, workText, ...values.map(String)]
    try {
      return await send(['EVALSHA', digest, ...rest])
    } catch (error) {
      // Redis has not run the script since it started, so it needs the text.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return send(['EVAL', text, ...rest])
    }
  }
}

/**
 * Milliseconds without a message after which the listening connection is checked. Until then a broken connection only
 * causes a delay, because workers also poll.
 */
const keepAliveMs = 30_000

function cancelText(id: string): string {
  return encodeChange({ topic: `${cancelTopic}${id}` }, maxNotificationBytes)
}

function listenForWork(bus: ChangeBus, { onWork, onCancel }: EngineListener): Promise<() => void> {
  return bus.listen({
    onChange: ({ topic }) => {
      if (topic === workTopic) onWork()
      else if (topic.startsWith(cancelTopic)) onCancel(topic.slice(cancelTopic.length))
    },
    // A lost cancellation needs no action, because the next heartbeat also reports it.
    onGap: onWork,
  })
}
