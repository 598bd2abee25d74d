import { sleep } from '@x/core'
import {
  type CallOptions,
  type ClientExtensionHost,
  isClientError,
  isPermanent,
  type Progress,
  retryAfterMsOf,
} from '@x/client'
import { isJsonObject, projectMetaKeys } from '@x/schema'
import type { DetailedTask, Task } from '../schema/task.ts'
import { computeFailurePauseMs, computePollPauseMs, type TasksClientSettings } from './settings.ts'
import { getTask, type TaskReference } from './task-requests.ts'
import { TaskError } from './task-error.ts'
import { openNotifications, type TaskNotifications } from './task-notifications.ts'

/** A task to be watched. */
export interface WatchedTask extends TaskReference {
  readonly host: ClientExtensionHost
  readonly settings: TasksClientSettings
  /** The state at the task's creation. Undefined for a task that is resumed. */
  readonly initialState: Task | undefined
}

type WatchTaskOptions = CallOptions & { readonly signal: AbortSignal }

/**
 * Watches a task to its end. Ends when it has ended, and rejects with `signal.reason`, {@link TaskError} or
 * `ClientError`.
 */
export async function* watchTask(
  task: WatchedTask,
  options: WatchTaskOptions,
): AsyncGenerator<DetailedTask, void, undefined> {
  const reader = openTaskReader(task, options)
  try {
    // The state of a task that was just created is known.
    if (task.initialState?.status === 'working') await reader.waitForNextPoll()
    for (;;) {
      const state = await reader.read()
      if (state) yield state
      if (state && isFinal(state)) return
      await reader.waitForNextPoll()
    }
  } finally {
    reader.close()
  }
}

interface TaskReader {
  /** Reads the state, if it is new. Rejects when another poll cannot help. */
  read(): Promise<DetailedTask | undefined>
  /** Waits until the next poll is due, or the server notifies. */
  waitForNextPoll(): Promise<void>
  close(): void
}

function openTaskReader(task: WatchedTask, options: WatchTaskOptions): TaskReader {
  const { host, taskId, settings, initialState } = task
  const { clock, shouldListen } = settings
  const { signal, meta } = options
  const notifications = shouldListen ? openNotifications({ host, taskId, settings, meta }) : undefined
  const retryingReader = createRetryingReader(task, options)
  let lastState: DetailedTask | undefined
  return {
    read: async () => {
      const state = takeNotifiedState(notifications, lastState) ?? (await retryingReader.read())
      const isUnchanged = state === undefined || isSameState(state, lastState)
      lastState = state ?? lastState
      return isUnchanged ? undefined : state
    },
    waitForNextPoll: () => {
      const backoffPauseMs = retryingReader.computePauseMs()
      const pauseMs = Math.max(
        computeNextPollPauseMs(lastState ?? initialState, notifications, settings),
        backoffPauseMs,
      )
      // A notification during failures must not shorten the pause that the server needs.
      return sleep(pauseMs, {
        clock,
        signal,
        registerWake: backoffPauseMs === 0 ? notifications?.onNextEvent : undefined,
      })
    },
    close: () => notifications?.close(),
  }
}

/** Returns true if a task has ended. */
export function isFinal({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

function isSameState(state: DetailedTask, lastState: DetailedTask | undefined): boolean {
  return lastState !== undefined && comparableTextOf(state) === comparableTextOf(lastState)
}

/** The interval may change with each poll, and `_meta` with each answer. */
function comparableTextOf(state: DetailedTask): string {
  return JSON.stringify({ ...state, pollIntervalMs: 0, _meta: progressOfState(state) ?? null })
}

/** Returns the numbers that a server of this project gives in the `_meta` of a task. Undefined where there are none. */
export function progressOfState(state: DetailedTask): Pick<Progress, 'progress' | 'total'> | undefined {
  const meta = '_meta' in state && isJsonObject(state._meta) ? state._meta : {}
  const progressMeta = meta[projectMetaKeys.progress]
  if (!isJsonObject(progressMeta) || typeof progressMeta['progress'] !== 'number') return undefined
  const { progress, total } = progressMeta
  return { progress, ...(typeof total === 'number' && { total }) }
}

/** Returns the last notified state, unless a newer one is known: a stream may be slower than an answer. */
function takeNotifiedState(
  notifications: TaskNotifications | undefined,
  lastState: DetailedTask | undefined,
): DetailedTask | undefined {
  const state = notifications?.takeState()
  if (state === undefined || lastState === undefined || isFinal(state)) return state
  return Date.parse(state.lastUpdatedAt) < Date.parse(lastState.lastUpdatedAt) ? undefined : state
}

function computeNextPollPauseMs(
  state: Task | undefined,
  notifications: TaskNotifications | undefined,
  settings: TasksClientSettings,
): number {
  const { polling, random } = settings
  const pauseMs = computePollPauseMs(state?.pollIntervalMs, polling, random)
  return notifications?.isOpen ? Math.max(pauseMs, polling.streamingMs) : pauseMs
}

interface RetryingReader {
  /** Reads the state of the task. Undefined when this attempt failed. Rejects when another attempt cannot succeed. */
  read(): Promise<DetailedTask | undefined>
  /** Returns the pause after failures, in milliseconds. 0 when the last read succeeded. */
  computePauseMs(): number
}

/** Polls the state of a task: transient failures are waited out, and lasting ones end it. */
function createRetryingReader(task: WatchedTask, options: WatchTaskOptions): RetryingReader {
  const { clock, failureTimeoutMs, random, polling } = task.settings
  const { signal } = options
  let failures = 0
  let failingSince = 0
  let pauseMs = 0
  const read = async (): Promise<DetailedTask | undefined> => {
    try {
      const { resultType: _, ...state } = await getTask({ ...task, options })
      failures = 0
      pauseMs = 0
      return state
    } catch (error) {
      signal.throwIfAborted()
      if (!isClientError(error) || isPermanent(error) || error.code === 'invalid_result') throw error
      if (failures === 0) failingSince = clock.monotonicNow()
      if (clock.monotonicNow() - failingSince >= failureTimeoutMs) throw unreachableError(task, error)
      pauseMs = Math.max(computeFailurePauseMs(failures, random), Math.min(retryAfterMsOf(error), polling.maxMs))
      failures += 1
      return undefined
    }
  }
  return { read, computePauseMs: () => pauseMs }
}

function unreachableError({ tool, settings }: WatchedTask, cause: Error): TaskError {
  const message =
    `The task of ${JSON.stringify(tool)} was unreachable for ${settings.failureTimeoutMs} ms; ` +
    'it may continue at the server: resume it, or allow more with failureTimeoutMs'
  return new TaskError('unreachable', message, { tool, cause })
}
