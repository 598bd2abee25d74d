import type { TaskContext } from '../task-context.ts'
import { quietTimer } from '../quiet-timer.ts'
import { type Attempt, obey, openAttempt, stopAttempt } from './attempt.ts'
import { listenForWork } from './listen-for-work.ts'
import { release, runTask } from './run-task.ts'

/** Works on tasks, in this process. */
export interface Worker {
  /** How many tasks it works on. */
  readonly running: number
  /** Takes no more tasks, and gives back those it has at their next boundary. The function that is returned takes it back. */
  drain(): () => void
  /** Gives back everything: at the next boundary, and after so many milliseconds in the middle. */
  close(graceMs: number): Promise<void>
}

/** How often what has expired is deleted. */
const sweepEveryMs = 60_000

/** What a worker keeps while it lives. */
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
}

/** Starts a worker: one loop that claims what is ready, as many tasks as may run at once. */
export function startWorker(context: TaskContext): Worker {
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
  }
  const { engine, lookForWorkMs } = context.settings
  const listening = context.settings.works ? listen(state) : undefined
  if (context.settings.works) every(state, lookForWorkMs, () => claimAll(state))
  every(state, Math.max(1, Math.floor(engine.leaseMs / 3)), () => beat(state))
  every(state, sweepEveryMs, () => engine.sweep())
  if (context.settings.works) void claimAll(state)
  return {
    get running() {
      return state.attempts.size
    },
    drain: () => drain(state),
    close: async (graceMs) => {
      await giveBackAll(state, graceMs)
      state.closing.abort()
      for (const timer of state.timers.values()) context.settings.clock.clearTimeout(timer)
      const stop = await listening
      stop?.()
    },
  }
}

/** How many milliseconds handlers have that were broken off. */
const lastGraceMs = 1000

async function giveBackAll(state: WorkerState, graceMs: number): Promise<void> {
  drain(state)
  await endsWithin(state, graceMs)
  for (const attempt of state.attempts) stopAttempt(attempt, 'released')
  await endsWithin(state, lastGraceMs)
  // From here on everything is tried once.
  state.givenUp.abort()
  await Promise.all([...state.attempts].map((attempt) => attempt.over || release(attempt, state.context)))
}

function drain(state: WorkerState): () => void {
  let lasts = true
  state.drains++
  for (const attempt of state.attempts) attempt.leaving = true
  return () => {
    if (lasts) state.drains--
    lasts = false
    void claimAll(state)
  }
}

function listen(state: WorkerState): Promise<(() => void) | undefined> {
  const onWork = (): void => void claimAll(state)
  const onCancel = (id: string): void => {
    for (const attempt of state.attempts) if (attempt.task.id === id) obey(attempt, 'cancelling')
  }
  return listenForWork({ onWork, onCancel }, state.closing.signal, state.context)
}

/** Claims as long as there is work and room. Calls that come meanwhile make it look once more. */
async function claimAll(state: WorkerState): Promise<void> {
  state.again = true
  if (state.claiming) return
  state.claiming = true
  try {
    while (state.again && room(state) > 0) {
      state.again = false
      const claimed = await state.context.settings.engine.claim(room(state))
      for (const task of claimed) begin(state, openAttempt(task, state.givenUp.signal))
    }
  } catch (error) {
    state.context.settings.onError(error)
  } finally {
    state.claiming = false
  }
}

function room({ context, attempts, drains, closing }: WorkerState): number {
  return closing.signal.aborted || drains > 0 ? 0 : context.settings.concurrency - attempts.size
}

function begin(state: WorkerState, attempt: Attempt): void {
  state.attempts.add(attempt)
  // It was claimed while the worker was told to stop.
  if (state.drains > 0) stopAttempt(attempt, 'released')
  void runTask(attempt, state.context).finally(() => {
    state.attempts.delete(attempt)
    if (state.attempts.size === 0) for (const end of state.ends) end()
    void claimAll(state)
  })
}

async function beat({ attempts, context }: WorkerState): Promise<void> {
  const those = [...attempts].filter(({ over }) => !over)
  if (those.length === 0) return
  const states = await context.settings.engine.heartbeat(those.map(({ task }) => task))
  those.forEach((attempt, index) => obey(attempt, states[index] ?? 'lost'))
}

/** Does something again and again, each time so many milliseconds after the last has ended. */
function every(state: WorkerState, ms: number, work: () => Promise<unknown>): void {
  const name = String(state.timers.size)
  const { clock, onError } = state.context.settings
  const wait = (): void => {
    if (!state.closing.signal.aborted) state.timers.set(name, quietTimer(clock, tick, ms))
  }
  const tick = (): void => void work().catch(onError).finally(wait)
  wait()
}

/** Resolves when nothing is worked on any more, or after so many milliseconds. */
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
