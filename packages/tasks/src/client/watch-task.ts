import { sleep } from '@x/core'
import { type CallOptions, type ClientExtensionHost, type Progress, retryAfterMsOf } from '@x/client'
import { isJsonObject, projectMetaKeys } from '@x/schema'
import type { DetailedTask, Task } from '../schema/task.ts'
import type { SerializedTask } from './serialized-task.ts'
import { computeFailurePauseMs, computePollPauseMs, isTemporary, type TasksClientSettings } from './settings.ts'
import { getTask } from './task-requests.ts'
import { TaskError } from './task-error.ts'
import { TaskNotifications } from './task-notifications.ts'

export interface WatchedTask extends Pick<SerializedTask, 'taskId' | 'tool'> {
  readonly host: ClientExtensionHost
  readonly settings: TasksClientSettings
  /** State in which the task was created. Undefined if it was resumed. */
  readonly initialState: Task | undefined
}

export type WatchTaskOptions = CallOptions & { readonly signal: AbortSignal }

/**
 * Yields each state that is read, until the task has ended. Rejects with `signal.reason`, {@link TaskError} or
 * `ClientError`.
 */
export async function* watchTask(
  task: WatchedTask,
  options: WatchTaskOptions,
): AsyncGenerator<DetailedTask, void, undefined> {
  const reader = openTaskReader(task, options)
  try {
    // A task that was just created needs no read.
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

/**
 * Reads a task's states. After a transient failure, it waits longer before the next poll. It rejects after a permanent
 * one, and after `failureTimeoutMs` of transient ones.
 */
function openTaskReader(task: WatchedTask, options: WatchTaskOptions) {
  const { settings, initialState } = task
  const { clock, follow, failureTimeoutMs, random, polling } = settings
  const { signal, meta } = options
  const notifications = follow === 'listen' ? new TaskNotifications(task, meta) : undefined
  let lastState: DetailedTask | undefined
  let failures = 0
  let failingSince = 0
  /** Milliseconds that the last failure requires. 0 if the last read succeeded. */
  let failurePauseMs = 0
  const poll = async (): Promise<DetailedTask | undefined> => {
    try {
      const { resultType: _, ...state } = await getTask({ ...task, options })
      failures = 0
      failurePauseMs = 0
      return state
    } catch (error) {
      signal.throwIfAborted()
      if (!isTemporary(error)) throw error
      if (failures === 0) failingSince = clock.monotonicNow()
      if (clock.monotonicNow() - failingSince >= failureTimeoutMs) throw unreachableError(task, error)
      failurePauseMs = Math.max(computeFailurePauseMs(failures, random), Math.min(retryAfterMsOf(error), polling.maxMs))
      failures += 1
      return undefined
    }
  }
  return {
    read: async (): Promise<DetailedTask | undefined> => {
      const state = takeNotifiedState(notifications, lastState) ?? (await poll())
      lastState = state ?? lastState
      return state
    },
    waitForNextPoll: (): Promise<void> => {
      const pollPauseMs = computeNextPollPauseMs(lastState ?? initialState, notifications, settings)
      // After a failure, a notification does not shorten the pause: the server may need it.
      const registerWake = failurePauseMs === 0 ? (wake: () => void) => notifications?.onNextEvent(wake) : undefined
      return sleep(Math.max(pollPauseMs, failurePauseMs), { clock, signal, registerWake })
    },
    close: () => notifications?.close(),
  }
}

export function isFinal({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** True also for states that differ only in what may change with each response. */
export function isSameState(state: DetailedTask, lastState: DetailedTask | undefined): boolean {
  return lastState !== undefined && comparableTextOf(state) === comparableTextOf(lastState)
}

/**
 * Equal for equal states. Leaves out the poll interval and other members of `_meta`, which may change with each
 * response.
 */
function comparableTextOf(state: DetailedTask): string {
  return JSON.stringify({ ...state, pollIntervalMs: 0, _meta: progressOfState(state) ?? null })
}

/** Progress that a server of this project puts into a task's `_meta`. Undefined if there is none. */
export function progressOfState(state: DetailedTask): Pick<Progress, 'progress' | 'total'> | undefined {
  const meta = '_meta' in state && isJsonObject(state._meta) ? state._meta : {}
  const progressMeta = meta[projectMetaKeys.progress]
  if (!isJsonObject(progressMeta) || typeof progressMeta['progress'] !== 'number') return undefined
  const { progress, total } = progressMeta
  return { progress, ...(typeof total === 'number' && { total }) }
}

/**
 * Takes a notification's state. Undefined if a newer one is already known, because a notification may arrive later than
 * a response.
 */
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

function unreachableError({ tool, settings }: WatchedTask, cause: Error): TaskError {
  const message =
    `The task of ${JSON.stringify(tool)} was unreachable for ${settings.failureTimeoutMs} ms; ` +
    'it may continue at the server: resume it, or allow more with failureTimeoutMs'
  return new TaskError('unreachable', message, { tool, cause })
}
