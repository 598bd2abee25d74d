import type { TaskContext } from '../task-context.ts'
import { unrefTimer } from '../unref-timer.ts'
import { type Attempt, applyLeaseState, openAttempt, stopAttempt } from './attempt.ts'
import { listenForWork } from './listen-for-work.ts'
import { releaseAttempt, runTask } from './run-task.ts'

/** Works on tasks, in this process. */
export interface Worker {
  /** Tasks that it works on now. */
  readonly running: number
  /** Begins to listen and to claim. Calling it again does nothing, and so does calling it after `close`. */
  start(): void
  /** Claims no more tasks, and releases those it has at their next boundary. Returns the function that resumes. */
  drain(): () => void
  /** Releases everything: at the next boundary, and after so many milliseconds in the middle. */
  close(graceMs: number): Promise<void>
}

/** Milliseconds between two deletions of expired tasks. */
const sweepEveryMs = 60_000

interface WorkerState {
  readonly context: TaskContext
  readonly attempts: Set<Attempt>
  readonly givenUp: AbortController
  /** Aborts when nothing is to begin any more. */
  readonly closing: AbortController
  readonly timers: Map<string, unknown>
  readonly ends: Set<() => void>
  drains: number
  claiming: boolean
  again: boolean
  listening: Promise<(() => void) | undefined> | undefined
  isStarted: boolean
}

/** Makes a worker: one loop that claims tasks that are ready, as many as may run at once. It opens nothing before `start`. */
export function createWorker(context: TaskContext): Worker {
  const state: WorkerState = {
    context,
    attempts: new Set(),
    givenUp: new AbortController(),
    closing: new AbortController(),
    timers: new Map(),
    ends: new Set(),
    drains: 0,
    claiming: false,
    again: false,
    listening: undefined,
    isStarted: false,
  }
  return {
    get running() {
      return state.attempts.size
    },
    start: () => {
      if (!state.isStarted) startWorker(state)
    },
    drain: () => drain(state),
    close: async (graceMs) => {
      await releaseAll(state, graceMs)
      state.closing.abort()
      for (const timer of state.timers.values()) context.settings.clock.clearTimeout(timer)
      const stop = await state.listening
      stop?.()
    },
  }
}

function startWorker(state: WorkerState): void {
  state.isStarted = true
  if (state.closing.signal.aborted) return
  const { engine, workPollMs, runWorker } = state.context.settings
  if (runWorker) state.listening = listenForTasks(state)
  if (runWorker) runEvery(state, workPollMs, () => claimAll(state))
  runEvery(state, Math.max(1, Math.floor(engine.leaseMs / 3)), () => sendHeartbeats(state))
  runEvery(state, sweepEveryMs, () => engine.sweep())
  if (runWorker) void claimAll(state)
}

/** Milliseconds that handlers have after they were aborted. */
const lastGraceMs = 1000

async function releaseAll(state: WorkerState, graceMs: number): Promise<void> {
  drain(state)
  await endsWithin(state, graceMs)
  for (const attempt of state.attempts) stopAttempt(attempt, 'released')
  await endsWithin(state, lastGraceMs)
  // From here on every write is tried once.
  state.givenUp.abort()
  await Promise.all([...state.attempts].map((attempt) => attempt.finished || releaseAttempt(attempt, state.context)))
}

function drain(state: WorkerState): () => void {
  const { context } = state
  let lasts = true
  state.drains++
  for (const attempt of state.attempts) attempt.releasing = true
  return () => {
    if (lasts) state.drains--
    lasts = false
    if (state.isStarted && context.settings.runWorker) void claimAll(state)
  }
}

function listenForTasks(state: WorkerState): Promise<(() => void) | undefined> {
  const onWork = (): void => void claimAll(state)
  const onCancel = (id: string): void => {
    for (const attempt of state.attempts) if (attempt.task.id === id) applyLeaseState(attempt, 'cancelling')
  }
  return listenForWork({ onWork, onCancel }, state.closing.signal, state.context)
}

/** Claims as long as there is work and room. Calls that come meanwhile repeat the claim once. */
async function claimAll(state: WorkerState): Promise<void> {
  state.again = true
  if (state.claiming) return
  state.claiming = true
  try {
    while (state.again && freeSlots(state) > 0) {
      state.again = false
      const claimed = await state.context.settings.engine.claim(freeSlots(state))
      for (const task of claimed) beginAttempt(state, openAttempt(task, state.givenUp.signal))
    }
  } catch (error) {
    state.context.settings.onError(error)
  } finally {
    state.claiming = false
  }
}

function freeSlots({ context, attempts, drains, closing }: WorkerState): number {
  return closing.signal.aborted || drains > 0 ? 0 : context.settings.concurrency - attempts.size
}

function beginAttempt(state: WorkerState, attempt: Attempt): void {
  state.attempts.add(attempt)
  // It was claimed while a drain began.
  if (state.drains > 0) stopAttempt(attempt, 'released')
  void runTask(attempt, state.context).finally(() => {
    state.attempts.delete(attempt)
    if (state.attempts.size === 0) for (const end of state.ends) end()
    void claimAll(state)
  })
}

async function sendHeartbeats({ attempts, context }: WorkerState): Promise<void> {
  const those = [...attempts].filter(({ finished }) => !finished)
  if (those.length === 0) return
  const states = await context.settings.engine.heartbeat(those.map(({ task }) => task))
  those.forEach((attempt, index) => applyLeaseState(attempt, states[index] ?? 'lost'))
}

/** Repeats work, each time so many milliseconds after the last has ended. */
function runEvery(state: WorkerState, ms: number, work: () => Promise<unknown>): void {
  const name = String(state.timers.size)
  const { clock, onError } = state.context.settings
  const wait = (): void => {
    if (!state.closing.signal.aborted) state.timers.set(name, unrefTimer(clock, tick, ms))
  }
  const tick = (): void => void work().catch(onError).finally(wait)
  wait()
}

/** Resolves when no attempt is left, or after so many milliseconds. */
function endsWithin({ attempts, ends, context }: WorkerState, ms: number): Promise<void> {
  if (attempts.size === 0) return Promise.resolve()
  const { clock } = context.settings
  return new Promise((resolve) => {
    const end = (): void => {
      clock.clearTimeout(timer)
      ends.delete(end)
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    ends.add(end)
  })
}
