import {
  type Clock,
  computeBackoffMs,
  maxTimerMs,
  type OptionTable,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { TaskHandle } from './task-handle.ts'

/** The intervals at which a task is polled, in milliseconds. */
export interface PollingOptions {
  /** The interval if the server suggests none. Default: 1000. */
  readonly defaultMs?: number | undefined
  /** The shortest interval, even if the server suggests a shorter one. Default: 50. */
  readonly minMs?: number | undefined
  /**
   * The longest interval that a suggestion of the server leads to. `streamingMs`, and the pause of up to 30 seconds
   * after a failure, may be longer. Default: an hour.
   */
  readonly maxMs?: number | undefined
  /** The interval while the server streams changes, unless the server suggests a longer one. Default: 30,000. */
  readonly streamingMs?: number | undefined
}

/** The options of the client extension `tasks`. */
export interface TasksClientOptions {
  /**
   * The identity of the server, for tasks that are serialized. Default: the connection's `url`. For a command this is
   * only the name of the program, and for an address it has no query. So give a `target` if several servers differ only
   * in these.
   */
  readonly target?: string | undefined
  /**
   * The user whose tasks are serialized, under the identity that the server authenticates. Null if the server does not
   * authenticate users.
   */
  readonly user?: string | null | undefined
  /**
   * The way to follow a task. `poll`: request its state as often as the server suggests. `listen`: let the server
   * stream changes, over one more open request for each task, and poll less often. Default: `poll`.
   */
  readonly follow?: 'poll' | 'listen' | undefined
  readonly polling?: PollingOptions | undefined
  /**
   * Uses the persistent workflow of SEP-2322, for servers that do not support the published extension. Calls of tools
   * then ask for a task by `task`, with the lifetime `ttlMs` if it is given. If absent, the published extension is
   * used.
   */
  readonly persistentWorkflow?: { readonly ttlMs?: number | undefined } | undefined
  /** Milliseconds of uninterrupted failures after which the client stops following a task. Default: 120,000. */
  readonly failureTimeoutMs?: number | undefined
  /** Milliseconds after which the client stops following a task that has not ended. Default: a day. */
  readonly maxTaskMs?: number | undefined
  /**
   * The effect on the task if `callTool` rejects before the task has ended, for example because its signal aborts.
   * `cancel` asks the server to cancel the task, because no caller has its handle. `leave` lets the task run. Default:
   * `cancel`.
   */
  readonly onAbort?: 'cancel' | 'leave' | undefined
  /**
   * Called with each task that a call becomes. The call waits for the returned promise. The function can serialize the
   * task, so that another process can resume it.
   */
  readonly onTask?: ((task: TaskHandle) => unknown) | undefined
  /** The clock, for tests. Default: the platform's. */
  readonly runtime?: Clock | undefined
  /** Returns a random number from 0 to below 1. Default: the platform's. */
  readonly random?: (() => number) | undefined
}

const upToTimer = { max: maxTimerMs }

const pollingOptionTable = {
  defaultMs: { default: 1000, ...upToTimer },
  minMs: { default: 50, ...upToTimer },
  maxMs: { default: 3_600_000, ...upToTimer },
  streamingMs: { default: 30_000, ...upToTimer },
} satisfies OptionTable<PollingOptions>

/** {@link PollingOptions} with defaults filled in. */
export type PollingSettings = ResolvedOptions<PollingOptions, typeof pollingOptionTable>

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
 * Fills in defaults. Throws `TypeError` for an unknown option, and `RangeError` for a number of milliseconds that is not
 * above 0, or is above `maxTimerMs`.
 */
export function resolveTasksSettings(options: TasksClientOptions, url: string | undefined): TasksClientSettings {
  const { target = url, runtime: clock, ...settings } = resolveOptions(options, tasksOptionTable, 'tasksClient')
  return { ...settings, target, clock }
}

/**
 * Returns the pause before the next poll, in milliseconds. It is the interval that the server suggests, within the
 * bounds of `polling`, plus a random part of up to a tenth. The random part prevents a host from polling all its tasks
 * at the same moment (seps/2663-tasks-extension, task polling).
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

/** The longest pause after a failure, in milliseconds. */
export const maxFailurePauseMs = 30_000

/**
 * Returns the pause after a failure, in milliseconds. The pause doubles with each failure in a row, up to a bound. It
 * is then reduced by a random part of up to a half. `failureCount` is the number of failures before the last one.
 */
export function computeFailurePauseMs(failureCount: number, random: () => number): number {
  return computeBackoffMs(failureCount, { firstMs: firstFailurePauseMs, maxMs: maxFailurePauseMs }, random)
}
