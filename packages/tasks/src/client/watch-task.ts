import { sleep } from '@x/core'
import { type CallOptions, type ClientExtensionHost, type Progress, retryAfterMsOf } from '@x/client'
import { isJsonObject, projectMetaKeys } from '@x/schema'
import type { DetailedTask, Task } from '../schema/task.ts'
import { computeFailurePauseMs, computePollPauseMs, isTemporary, type TasksClientSettings } from './settings.ts'
import { getTask, type TaskReference } from './task-requests.ts'
import { TaskError } from './task-error.ts'
import { openNotifications, type TaskNotifications } from './task-notifications.ts'

export interface WatchedTask extends TaskReference {
  readonly host: ClientExtensionHost
  readonly settings: TasksClientSettings
  /** State in which the task was created. Undefined if it was resumed. */
  readonly initialState: Task | undefined
}

type WatchTaskOptions = CallOptions & { readonly signal: AbortSignal }

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

function openTaskReader(task: WatchedTask, options: WatchTaskOptions) {
  const { host, taskId, settings, initialState } = task
  const { clock, follow } = settings
  const { signal, meta } = options
  const notifications = follow === 'listen' ? openNotifications({ host, taskId, settings, meta }) : undefined
  const retryingReader = createRetryingReader(task, options)
  let lastState: DetailedTask | undefined
  return {
    read: async (): Promise<DetailedTask | undefined> => {
      const state = takeNotifiedState(notifications, lastState) ?? (await retryingReader.read())
      lastState = state ?? lastState
      return state
    },
    waitForNextPoll: (): Promise<void> => {
      const backoffPauseMs = retryingReader.computePauseMs()
      const pauseMs = Math.max(
        computeNextPollPauseMs(lastState ?? initialState, notifications, settings),
        backoffPauseMs,
      )
      // After a failure, a notification does not shorten the pause: the server may need it.
      return sleep(pauseMs, {
        clock,
        signal,
        registerWake: backoffPauseMs === 0 ? notifications?.onNextEvent : undefined,
      })
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

/**
 * Waits longer before the next poll after a transient failure. Rejects after a permanent one, and after
 * `failureTimeoutMs` of transient ones.
 */
function createRetryingReader(task: WatchedTask, options: WatchTaskOptions) {
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
      if (!isTemporary(error)) throw error
      if (failures === 0) failingSince = clock.monotonicNow()
      if (clock.monotonicNow() - failingSince >= failureTimeoutMs) throw unreachableError(task, error)
      pauseMs = Math.max(computeFailurePauseMs(failures, random), Math.min(retryAfterMsOf(error), polling.maxMs))
      failures += 1
      return undefined
    }
  }
  return {
    read,
    /** Milliseconds that the last failure requires. 0 if the last read succeeded. */
    computePauseMs: () => pauseMs,
  }
}

function unreachableError({ tool, settings }: WatchedTask, cause: Error): TaskError {
  const message =
    `The task of ${JSON.stringify(tool)} was unreachable for ${settings.failureTimeoutMs} ms; ` +
    'it may continue at the server: resume it, or allow more with failureTimeoutMs'
  return new TaskError('unreachable', message, { tool, cause })
}
