import {
  type Clock,
  computeBackoffMs,
  maxTimerMs,
  type OptionTable,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import { type ClientError, type ClientExtensionHost, isClientError, isPermanent } from '@x/client'
import { identifyingUrlOf } from '@x/exchange/internal'
import type { TaskHandle } from './task-handle.ts'

/** How often a task is polled, in milliseconds. */
export interface PollingOptions {
  /** Used if the server suggests none. Default: 1000. */
  readonly defaultMs?: number | undefined
  /** Shortest interval, even if the server suggests a shorter one. Default: 50. */
  readonly minMs?: number | undefined
  /**
   * Longest interval that a server can bring about. `streamingMs`, and the pause of up to 30 seconds after a failure,
   * may be longer. Default: an hour.
   */
  readonly maxMs?: number | undefined
  /** Used while the server streams changes, unless it suggests a longer one. Default: 30,000. */
  readonly streamingMs?: number | undefined
}

/** Options of the client extension `tasks`. */
export interface TasksClientOptions {
  /**
   * Identifies the server in serialized tasks. Default: the URL of a connection over HTTP, without its query. Give a
   * `target` for a server in this process or over stdio, for servers that differ only in the query, and for one that you
   * reach at several URLs.
   */
  readonly target?: string | undefined
  /**
   * The user whose tasks are serialized, as the server authenticates them. Null if the server does not authenticate
   * users.
   */
  readonly user?: string | null | undefined
  /**
   * How to follow a task. `poll`: request its state as often as the server suggests. `listen`: let the server stream
   * changes, over one more open request for each task, and poll less often. Default: `poll`.
   */
  readonly follow?: 'poll' | 'listen' | undefined
  readonly polling?: PollingOptions | undefined
  /**
   * For servers with the persistent workflow of SEP-2322 in place of the published extension. Calls of tools then ask
   * for a task by `task`, with the lifetime `ttlMs` if you give it. If absent, the published extension is used.
   */
  readonly persistentWorkflow?: { readonly ttlMs?: number | undefined } | undefined
  /** Milliseconds of uninterrupted failures after which the client stops following a task. Default: 120,000. */
  readonly failureTimeoutMs?: number | undefined
  /** Milliseconds after which the client stops following a task that has not ended. Default: a day. */
  readonly maxTaskMs?: number | undefined
  /**
   * What happens to the task if `callTool` rejects before it has ended, for example because its signal aborts, or
   * `tasks.start`, because `onTask` throws. `cancel` asks the server to cancel it, because no caller has its handle, and
   * the call rejects after the answer, at most a second later. `leave` lets it run. Default: `cancel`.
   */
  readonly onAbort?: 'cancel' | 'leave' | undefined
  /**
   * Called with each task that a call becomes; the call waits for your promise. Serialize the task here if another
   * process should be able to resume it.
   */
  readonly onTask?: ((task: TaskHandle) => unknown) | undefined
  /** Clock, for tests. Default: the platform's. */
  readonly runtime?: Clock | undefined
  /** A random number from 0 to below 1. Default: the platform's. */
  readonly random?: (() => number) | undefined
}

const upToTimer = { max: maxTimerMs }

const pollingOptionTable = {
  defaultMs: { default: 1000, ...upToTimer },
  minMs: { default: 50, ...upToTimer },
  maxMs: { default: 3_600_000, ...upToTimer },
  streamingMs: { default: 30_000, ...upToTimer },
} satisfies OptionTable<PollingOptions>

const tasksOptionTable = {
  target: undefined,
  user: undefined,
  follow: 'poll',
  polling: { default: {}, group: pollingOptionTable },
  persistentWorkflow: undefined,
  // limit: `failureTimeoutMs` of `tasksClient` | ms | the time in which all polls fail | the call is rejected
  failureTimeoutMs: { default: 120_000, ...upToTimer },
  // limit: `maxTaskMs` of `tasksClient` | ms | the wait for a task | the call is rejected
  maxTaskMs: { default: 86_400_000, ...upToTimer },
  onAbort: 'cancel',
  onTask: undefined,
  runtime: { default: platformRuntime },
  random: { default: () => Math.random() },
} satisfies OptionTable<TasksClientOptions>

/** {@link TasksClientOptions} with defaults filled in. */
export interface TasksClientSettings
  extends Omit<ResolvedOptions<TasksClientOptions, typeof tasksOptionTable>, 'runtime'> {
  readonly clock: Clock
}

/**
 * Fills in defaults. Throws `TypeError` for an unknown option, and `RangeError` for a number of milliseconds that is
 * not above 0, or is above `maxTimerMs`.
 */
export function resolveTasksSettings(
  options: TasksClientOptions,
  host: Pick<ClientExtensionHost, 'url'>,
): TasksClientSettings {
  const {
    target = identifyingUrlOf(host),
    runtime: clock,
    ...settings
  } = resolveOptions(options, tasksOptionTable, 'tasksClient')
  return { ...settings, target, clock }
}

/**
 * Milliseconds to the next poll: what the server suggests, within the bounds of `polling`, plus a random part of up to
 * a tenth, so that a host does not poll all its tasks at the same moment (seps/2663-tasks-extension, task polling).
 */
export function computePollPauseMs(
  requestedMs: number | undefined,
  polling: TasksClientSettings['polling'],
  random: () => number,
): number {
  const { defaultMs, minMs, maxMs } = polling
  const boundedMs = Math.min(Math.max(requestedMs ?? defaultMs, minMs), maxMs)
  return Math.min(boundedMs * (1 + random() / 10), maxMs)
}

/** True for a failure of a request about a task after which the next may succeed. */
export function isTemporary(error: unknown): error is ClientError {
  return isClientError(error) && !isPermanent(error) && error.code !== 'invalid_result'
}

const firstFailurePauseMs = 1000

/** Longest pause after a failure, in milliseconds. */
export const maxFailurePauseMs = 30_000

/**
 * Milliseconds to pause after a failure: doubled with each failure in a row, up to a bound, and then reduced by a
 * random part of up to a half. `failureCount` does not count the last failure.
 */
export function computeFailurePauseMs(failureCount: number, random: () => number): number {
  return computeBackoffMs(failureCount, { firstMs: firstFailurePauseMs, maxMs: maxFailurePauseMs }, random)
}
