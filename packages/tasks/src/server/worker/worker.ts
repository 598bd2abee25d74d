import { captureAsyncContext, settlesWithin, sleep, startBackgroundTimer } from '@x/core'
import type { TaskContext } from '../options.ts'
import { applyLeaseState, type Attempt, openAttempt, requestRelease, stopAttempt } from './attempt.ts'
import { releaseAttempt, runTask } from './run-task.ts'
import type { EngineListener } from '../../engines/engine.ts'

const firstPauseMs = 250
const longestPauseMs = 30_000

/**
 * Listens to the engine, again and again until that succeeds: an engine that is unreachable at the start must not leave
 * this instance without notifications. An outage is reported to `onError` once: the worker polls meanwhile, and reports
 * its own errors. Resolves with the function that ends it, or with undefined when the signal aborts before.
 */
async function listenForWork(
  listener: EngineListener,
  signal: AbortSignal,
  context: TaskContext,
): Promise<(() => void) | undefined> {
  const { clock, engine, onError } = context.settings
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const stop = await engine.listen(listener)
      // Tasks may have become ready while no worker listened.
      if (pauseMs > firstPauseMs) listener.onWork()
      return stop
    } catch (error) {
      if (pauseMs === firstPauseMs) onError(error)
      await sleep(pauseMs, { clock, signal, isBackground: true }).catch(() => {})
    }
  }
  return undefined
}

/** Works on tasks, in this process. */
export interface Worker {
  /** Tasks that it works on now. */
  readonly runningCount: number
  /** Begins to listen and to claim. Calling it again does nothing, and so does calling it after `close`. */
  start(): void
  /** Claims no more tasks, and releases those it has at their next boundary. Returns the function that resumes. */
  drain(): () => void
  /** Releases everything: at the next boundary, and after so many milliseconds in the middle. */
  close(graceMs: number): Promise<void>
}

/** Milliseconds between two deletions of expired tasks. */
const sweepIntervalMs = 60_000

interface WorkerState {
  readonly context: TaskContext
  /** Runs work in the asynchronous context of the server, and not of the request that started it. */
  readonly runInOrigin: <T>(run: () => T) => T
  readonly attempts: Set<Attempt>
  readonly abandonController: AbortController
  /** Aborts when nothing is to begin any more. */
  readonly closeController: AbortController
  readonly timers: Map<string, unknown>
  readonly idleListeners: Set<() => void>
  /** Claims, heartbeats and deletions that have begun and not ended. */
  readonly backgroundWork: Set<Promise<void>>
  drainCount: number
  isClaiming: boolean
  shouldClaimAgain: boolean
  subscription: Promise<(() => void) | undefined> | undefined
  isStarted: boolean
}

/**
 * Makes a worker: one loop that claims tasks that are ready, as many as may run at once. It opens nothing before
 * `start`.
 */
export function createWorker(context: TaskContext): Worker {
  const state: WorkerState = {
    context,
    runInOrigin: captureAsyncContext(),
    attempts: new Set(),
    abandonController: new AbortController(),
    closeController: new AbortController(),
    timers: new Map(),
    idleListeners: new Set(),
    backgroundWork: new Set(),
    drainCount: 0,
    isClaiming: false,
    shouldClaimAgain: false,
    subscription: undefined,
    isStarted: false,
  }
  return {
    get runningCount() {
      return state.attempts.size
    },
    start: () => {
      if (!state.isStarted) state.runInOrigin(() => startWorker(state))
    },
    drain: () => state.runInOrigin(() => drainWorker(state)),
    close: async (graceMs) => {
      await releaseAttempts(state, graceMs)
      state.closeController.abort()
      for (const timer of state.timers.values()) context.settings.clock.clearTimeout(timer)
      const stopListening = await state.subscription
      stopListening?.()
      if (state.backgroundWork.size > 0) await waitForBackgroundWork(state)
    },
  }
}

function startWorker(state: WorkerState): void {
  state.isStarted = true
  if (state.closeController.signal.aborted) return
  const { engine, workPollMs, runWorker } = state.context.settings
  if (runWorker) state.subscription = listenForTasks(state)
  if (runWorker) runEvery(state, workPollMs, () => claimWhileFree(state))
  runEvery(state, Math.max(1, Math.floor(engine.leaseMs / 3)), () => sendHeartbeats(state))
  runEvery(state, sweepIntervalMs, () => engine.deleteExpiredTasks())
  if (runWorker) claimTasksForFreeSlots(state)
}

/** Milliseconds that handlers have after they were aborted. */
const finalGraceMs = 1000

async function releaseAttempts(state: WorkerState, graceMs: number): Promise<void> {
  drainWorker(state)
  // The tasks of a running claim are released with the others.
  if (state.backgroundWork.size > 0) await waitForBackgroundWork(state)
  await waitForAttempts(state, graceMs)
  for (const attempt of state.attempts) stopAttempt(attempt, { kind: 'released' })
  await waitForAttempts(state, finalGraceMs)
  // From here on every write is tried once.
  state.abandonController.abort()
  await Promise.all([...state.attempts].map((attempt) => attempt.isFinished || releaseAttempt(attempt, state.context)))
}

function drainWorker(state: WorkerState): () => void {
  const { context } = state
  let isActive = true
  state.drainCount++
  for (const attempt of state.attempts) requestRelease(attempt)
  return () => {
    if (isActive) state.drainCount--
    isActive = false
    if (state.isStarted && context.settings.runWorker) claimTasksForFreeSlots(state)
  }
}

function listenForTasks(state: WorkerState): Promise<(() => void) | undefined> {
  const onWork = (): void => claimTasksForFreeSlots(state)
  const onCancel = (id: string): void =>
    state.runInOrigin(() => {
      for (const attempt of state.attempts) if (attempt.task.id === id) applyLeaseState(attempt, 'cancelling')
    })
  return listenForWork({ onWork, onCancel }, state.closeController.signal, state.context)
}

function claimTasksForFreeSlots(state: WorkerState): void {
  runInBackground(state, () => claimWhileFree(state))
}

/** Claims as long as there is work and room. Calls that come meanwhile repeat the claim once. */
async function claimWhileFree(state: WorkerState): Promise<void> {
  state.shouldClaimAgain = true
  if (state.isClaiming) return
  state.isClaiming = true
  try {
    while (state.shouldClaimAgain && countFreeSlots(state) > 0) {
      state.shouldClaimAgain = false
      const claimedTasks = await state.context.settings.engine.claim(countFreeSlots(state))
      for (const task of claimedTasks) beginAttempt(state, openAttempt(task, state.abandonController.signal))
    }
  } catch (error) {
    state.context.settings.onError(error)
  } finally {
    state.isClaiming = false
  }
}

function countFreeSlots({ context, attempts, drainCount, closeController }: WorkerState): number {
  return closeController.signal.aborted || drainCount > 0 ? 0 : context.settings.concurrency - attempts.size
}

function beginAttempt(state: WorkerState, attempt: Attempt): void {
  state.attempts.add(attempt)
  // It was claimed while a drain began.
  if (state.drainCount > 0) stopAttempt(attempt, { kind: 'released' })
  void runTask(attempt, state.context).finally(() => {
    state.attempts.delete(attempt)
    if (state.attempts.size === 0) for (const notifyIdle of state.idleListeners) notifyIdle()
    claimTasksForFreeSlots(state)
  })
}

async function sendHeartbeats({ attempts, context }: WorkerState): Promise<void> {
  const runningAttempts = [...attempts].filter(({ isFinished }) => !isFinished)
  if (runningAttempts.length === 0) return
  const leaseStates = await context.settings.engine.heartbeat(runningAttempts.map(({ task }) => task))
  runningAttempts.forEach((attempt, index) => applyLeaseState(attempt, leaseStates[index] ?? 'lost'))
}

/** Repeats work, each time so many milliseconds after the last has ended. */
function runEvery(state: WorkerState, intervalMs: number, runOnInterval: () => Promise<unknown>): void {
  const name = String(state.timers.size)
  const { clock } = state.context.settings
  const scheduleRun = (): void => {
    if (!state.closeController.signal.aborted) state.timers.set(name, startBackgroundTimer(clock, runOnce, intervalMs))
  }
  const runOnce = (): void => runInBackground(state, () => runOnInterval().finally(scheduleRun))
  scheduleRun()
}

function runInBackground(state: WorkerState, work: () => Promise<unknown>): void {
  const { backgroundWork, context, runInOrigin } = state
  const promise: Promise<void> = runInOrigin(work)
    .then(() => {}, context.settings.onError)
    .finally(() => backgroundWork.delete(promise))
  backgroundWork.add(promise)
}

/** The engine may be closed only when nothing is asked of it. An engine that does not answer is not waited for. */
async function waitForBackgroundWork({ backgroundWork, context }: WorkerState): Promise<void> {
  await settlesWithin(Promise.all(backgroundWork), finalGraceMs, context.settings.clock)
}

/** Resolves when no attempt is left, or after so many milliseconds. */
function waitForAttempts({ attempts, idleListeners, context }: WorkerState, timeoutMs: number): Promise<void> {
  if (attempts.size === 0) return Promise.resolve()
  const { clock } = context.settings
  return new Promise((resolve) => {
    const finishWait = (): void => {
      clock.clearTimeout(timer)
      idleListeners.delete(finishWait)
      resolve()
    }
    const timer = clock.setTimeout(finishWait, timeoutMs)
    idleListeners.add(finishWait)
  })
}
