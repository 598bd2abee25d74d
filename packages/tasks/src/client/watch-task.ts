import { type CallOptions, type Client, isClientError, isHopeless, retryAfterOf } from '@x/client'
import type { DetailedTask, Task } from '../schema/task.ts'
import { failurePause, pollPause } from './pace.ts'
import { rest } from './rest.ts'
import type { TasksClientSettings } from './settings.ts'
import { getTask, type KnownTask } from './task-calls.ts'
import { TaskFailure } from './task-failure.ts'
import { openNews, type TaskNews } from './task-news.ts'

/** A task to be watched. */
export interface WatchedTask extends KnownTask {
  readonly client: Client
  readonly settings: TasksClientSettings
  /** What was told when the task was made; undefined for one that is taken up again. */
  readonly seed: Task | undefined
}

type Watching = CallOptions & { readonly signal: AbortSignal }

/** Watches a task to its end. Ends when it has ended, and rejects with `signal.reason`, {@link TaskFailure} or `ClientError`. */
export async function* watchTask(task: WatchedTask, how: Watching): AsyncGenerator<DetailedTask, void, undefined> {
  const view = openView(task, how)
  try {
    // Of a task that has just been made and is worked on there is nothing to see yet.
    if (task.seed?.status === 'working') await view.pause()
    for (;;) {
      const state = await view.look()
      if (state) yield state
      if (state && isFinal(state)) return
      await view.pause()
    }
  } finally {
    view.close()
  }
}

interface View {
  /** How the task stands, if that is new; rejects when there is no use in looking again. */
  look(): Promise<DetailedTask | undefined>
  /** Waits until it is time to look again, or the server tells something. */
  pause(): Promise<void>
  close(): void
}

function openView(task: WatchedTask, how: Watching): View {
  const { client, taskId, settings, seed } = task
  const { clock, listens } = settings
  const { signal, meta } = how
  const news = listens ? openNews({ client, taskId, settings, meta }) : undefined
  const again = lookAgain(task, how)
  let last: DetailedTask | undefined
  return {
    look: async () => {
      const state = told(news, last) ?? (await again.look())
      if (state === undefined || isSame(state, last)) return undefined
      last = state
      return state
    },
    pause: () => {
      const failingMs = again.pauseMs()
      const ms = Math.max(pauseOf(last ?? seed, news, settings), failingMs)
      // News that come while the server fails would be a way around the pause that it needs.
      return rest(ms, { clock, signal, wakeBy: failingMs === 0 ? news?.wakeBy : undefined })
    },
    close: () => news?.close(),
  }
}

/** Whether a task has come to its end. */
export function isFinal({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

function isSame(state: DetailedTask, last: DetailedTask | undefined): boolean {
  return last !== undefined && JSON.stringify({ ...state, _meta: 0 }) === JSON.stringify({ ...last, _meta: 0 })
}

/** The last that the server told by itself, unless what is known is newer: a stream may be slower than an answer. */
function told(news: TaskNews | undefined, last: DetailedTask | undefined): DetailedTask | undefined {
  const state = news?.take()
  if (state === undefined || last === undefined || isFinal(state)) return state
  return Date.parse(state.lastUpdatedAt) < Date.parse(last.lastUpdatedAt) ? undefined : state
}

function pauseOf(state: Task | undefined, news: TaskNews | undefined, settings: TasksClientSettings): number {
  const { polling, random } = settings
  const pauseMs = pollPause(state?.pollIntervalMs, polling, random)
  return news?.isOpen ? Math.max(pauseMs, polling.behindMs) : pauseMs
}

interface Looks {
  /** How the task stands; undefined when that could not be had this time. Rejects when there is no use in asking again. */
  look(): Promise<DetailedTask | undefined>
  /** How long to wait because of failures, in milliseconds; 0 when the last look did not fail. */
  pauseMs(): number
}

/** Looks how a task stands, again and again: failures that pass are waited out, and those that last are the end. */
function lookAgain(task: WatchedTask, how: Watching): Looks {
  const { clock, patienceMs, random, polling } = task.settings
  const { signal } = how
  let failures = 0
  let failingSince = 0
  let pauseMs = 0
  const look = async (): Promise<DetailedTask | undefined> => {
    try {
      const { resultType: _, ...state } = await getTask({ ...task, how })
      failures = 0
      pauseMs = 0
      return state
    } catch (error) {
      signal.throwIfAborted()
      if (!isClientError(error) || isHopeless(error) || error.code === 'invalid_result') throw error
      if (failures === 0) failingSince = clock.now()
      if (clock.now() - failingSince >= patienceMs) throw unreachable(task, error)
      pauseMs = Math.max(failurePause(failures, random), Math.min(retryAfterOf(error), polling.mostMs))
      failures += 1
      return undefined
    }
  }
  return { look, pauseMs: () => pauseMs }
}

function unreachable({ tool, settings }: WatchedTask, cause: Error): TaskFailure {
  const message =
    `Nothing could be had of the task of ${JSON.stringify(tool)} for ${settings.patienceMs} ms; ` +
    'it may go on at the server: take it up again, or allow more with patienceMs'
  return new TaskFailure('unreachable', message, { tool, cause })
}
