import { checkedNumber, type Clock, computeBackoffMs, maxTimerMs, platformRuntime } from '@x/core'
import type { TaskHandle } from './task-handle.ts'

/** The intervals at which a task is polled, in milliseconds. */
export interface PollingOptions {
  /** Between two polls where the server suggests nothing. Default: 1000. */
  readonly defaultMs?: number | undefined
  /** The minimum, also where the server suggests less. Default: 50. */
  readonly minMs?: number | undefined
  /** The maximum, also where the server suggests more. Default: an hour. */
  readonly maxMs?: number | undefined
  /** Between two polls while the server streams changes, unless it suggests more. Default: 30,000. */
  readonly streamingMs?: number | undefined
}

/** The options of the client extension `tasks`. */
export interface TasksClientOptions {
  /** The identity of the server, for tasks that are serialized. Default: the connection's `url`. */
  readonly target?: string | undefined
  /** The owner of serialized tasks: the user that the server authenticates, or null where it authenticates none. */
  readonly user?: string | null | undefined
  /**
   * `poll`: request the state, as often as the server suggests. `listen`: have the server stream changes, over one more
   * request that lasts for each task, and poll now and then beside it. Default `poll`.
   */
  readonly follow?: 'poll' | 'listen' | undefined
  readonly polling?: PollingOptions | undefined
  /**
   * Follows the persistent workflow as SEP-2322 writes it, for servers that have it and not the published extension:
   * calls of tools ask for a task by `task`, with the lifetime `ttlMs` where one is given. Absent: the published
   * extension.
   */
  readonly persistentWorkflow?: { readonly ttlMs?: number | undefined } | undefined
  /** Milliseconds of failures after which following a task ends. Default: 120,000. */
  readonly failureTimeoutMs?: number | undefined
  /** Milliseconds that a task may take until following it ends. Default: a day. */
  readonly maxTaskMs?: number | undefined
  /**
   * The fate of the task when `callTool` rejects before it has ended, as when its signal aborts: `cancel` asks the
   * server to cancel it, because no caller has its handle. `leave` lets it run. Default `cancel`.
   */
  readonly onAbort?: 'cancel' | 'leave' | undefined
  /**
   * Receives each task that a call becomes, and is awaited: a place to serialize it, so that another process can resume
   * it.
   */
  readonly onTask?: ((task: TaskHandle) => void | Promise<void>) | undefined
  /** Time, for tests. Default: the platform's. */
  readonly runtime?: Clock | undefined
  /** Random numbers from 0 to below 1. Default: the platform's. */
  readonly random?: (() => number) | undefined
}

/** The bounds of {@link PollingOptions}, filled in. */
export type PollingSettings = { readonly [K in keyof PollingOptions]-?: number }

/** {@link TasksClientOptions} with defaults filled in. */
export interface TasksClientSettings {
  readonly target: string | undefined
  readonly user: string | null | undefined
  readonly persistentWorkflow: TasksClientOptions['persistentWorkflow']
  readonly shouldListen: boolean
  readonly polling: PollingSettings
  readonly failureTimeoutMs: number
  readonly maxTaskMs: number
  readonly cancelsOnAbort: boolean
  readonly onTask: TasksClientOptions['onTask']
  readonly clock: Clock
  readonly random: () => number
}

/** Fills in defaults. Throws `RangeError` for a number of milliseconds that makes no sense. */
export function resolveTasksSettings(options: TasksClientOptions, url: string | undefined): TasksClientSettings {
  const { target = url, user, onTask, runtime: clock = platformRuntime, random = Math.random } = options
  return {
    target,
    user,
    onTask,
    persistentWorkflow: options.persistentWorkflow,
    clock,
    random,
    shouldListen: options.follow === 'listen',
    cancelsOnAbort: options.onAbort !== 'leave',
    polling: resolvePollingSettings(options.polling),
    failureTimeoutMs: resolveMilliseconds('failureTimeoutMs', options.failureTimeoutMs, 120_000),
    maxTaskMs: resolveMilliseconds('maxTaskMs', options.maxTaskMs, 86_400_000),
  }
}

function resolvePollingSettings({ defaultMs, minMs, maxMs, streamingMs }: PollingOptions = {}): PollingSettings {
  return {
    defaultMs: resolveMilliseconds('polling.defaultMs', defaultMs, 1000),
    minMs: resolveMilliseconds('polling.minMs', minMs, 50),
    maxMs: resolveMilliseconds('polling.maxMs', maxMs, 3_600_000),
    streamingMs: resolveMilliseconds('polling.streamingMs', streamingMs, 30_000),
  }
}

function resolveMilliseconds(name: string, value: number | undefined, fallback: number): number {
  return checkedNumber(name, value ?? fallback, { max: maxTimerMs })
}

/**
 * Returns the pause before the next poll, in milliseconds: the server's interval, within bounds, and up to a tenth
 * more, so that the tasks of a host are not all polled in one moment (seps/2663-tasks-extension, task polling).
 */
export function computePollPauseMs(
  requestedMs: number | undefined,
  polling: PollingSettings,
  random: () => number,
): number {
  const { defaultMs, minMs, maxMs } = polling
  const boundedMs = Math.min(Math.max(requestedMs ?? defaultMs, minMs), maxMs)
  return Math.min(boundedMs * (1 + random() / 10), maxMs)
}

const firstFailurePauseMs = 1000

/** The longest pause after failures, in milliseconds. */
export const maxFailurePauseMs = 30_000

/**
 * Returns the pause after failures, in milliseconds: twice as long each time in a row, up to a bound, less a random
 * half. `failureCount` is the number of failures before the last one.
 */
export function computeFailurePauseMs(failureCount: number, random: () => number): number {
  return computeBackoffMs(failureCount, { firstMs: firstFailurePauseMs, maxMs: maxFailurePauseMs }, random)
}
