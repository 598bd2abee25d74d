import {
  captureAsyncContext,
  checkedNumber,
  isMissingModuleError,
  maxTimerMs,
  onCancel,
  openAbortScope,
  settlesWithin,
  sleep,
  startBackgroundTimer,
} from '@x/core'
import type { TaskContext, TaskSettings } from '../options.ts'
import { dispatchDueTasks, outcomeWithoutClaim, type RunOptions, type RunOutcome } from '../task-runner.ts'
import {
  applyLeaseState,
  type Attempt,
  openAttempt,
  requestRelease,
  stopAttempt,
  type WorkerContext,
} from './attempt.ts'
import { boundEngineCalls } from './bounded-engine.ts'
import { watchWrites } from '../write-health.ts'
import { releaseAttempt, runTask } from './run-task.ts'
import type { ClaimedTask, EngineListener } from '../../engines/engine.ts'

const firstPauseMs = 250
const longestPauseMs = 30_000

/**
 * Listens to the engine, and retries until that succeeds. Logs only the first failure of an outage, because the worker
 * also polls and logs the failures of its polls. Resolves with the function that stops listening. Resolves with
 * undefined if the signal aborts before.
 */
async function listenForWork(
  listener: EngineListener,
  signal: AbortSignal,
  { engine, settings }: WorkerContext,
): Promise<(() => void) | undefined> {
  const { clock, onError } = settings
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const stop = await engine.listen(listener)
      // Tasks may have become ready during the outage.
      if (pauseMs > firstPauseMs) listener.onWork()
      return stop
    } catch (error) {
      if (pauseMs === firstPauseMs) onError(error)
      await sleep(pauseMs, { clock, signal, isBackground: true }).catch(() => {})
    }
  }
  return undefined
}

/** Runs tasks in this process. */
export interface Worker {
  /** The number of tasks that this worker runs. */
  readonly runningCount: number
  /**
   * Starts to listen for tasks and to claim them. A second call does nothing. A call after `close` does nothing either.
   */
  start(): void
  /** Claims one task and runs it. Starts the worker. */
  run(id: string, options?: RunOptions): Promise<RunOutcome>
  /**
   * Stops claiming tasks, and releases each running task at the end of its current step. Returns a function that
   * resumes.
   */
  drain(): () => void
  /**
   * Releases each task at the end of its current step, at the latest after `graceMs`. Resolves at the latest 2 seconds
   * after `graceMs`, even if the engine never answers.
   */
  close(graceMs: number): Promise<void>
}

/** Milliseconds between two deletions of expired tasks. */
const sweepIntervalMs = 60_000

/** Milliseconds between two searches for tasks that have to be dispatched again. */
const dispatchIntervalMs = 30_000

interface WorkerState {
  readonly context: WorkerContext
  /** Runs a function in the asynchronous context in which the server was created, and not in that of a request. */
  readonly runInOrigin: <T>(run: () => T) => T
  readonly attempts: Set<Attempt>
  readonly abandonController: AbortController
  /** Aborts when no more work may start. */
  readonly closeController: AbortController
  readonly timers: Map<string, unknown>
  readonly idleListeners: Set<() => void>
  /** Claims, heartbeats and deletions that have not settled. */
  readonly backgroundWork: Set<Promise<void>>
  drainCount: number
  /** The number of runs that claim their task at present. */
  claimingRunCount: number
  isClaiming: boolean
  shouldClaimAgain: boolean
  subscription: Promise<(() => void) | undefined> | undefined
  isStarted: boolean
}

/** Returns the name under which operators see this worker. */
function nameOfWorker(): string | undefined {
  const { pid, env } = globalThis.process ?? {}
  return pid === undefined ? undefined : `${env?.['HOSTNAME'] ?? 'process'}:${pid}`
}

/**
 * Creates a worker, which claims ready tasks and runs up to `concurrency` of them at once. It does not call the engine
 * before `start`.
 */
export function createWorker(taskContext: TaskContext): Worker {
  const { engine, clock } = taskContext.settings
  const closeController = new AbortController()
  // A missing package stays missing until the process is started again.
  const onError: TaskSettings['onError'] = (error, logContext) => {
    if (isMissingModuleError(error)) closeController.abort()
    taskContext.settings.onError(error, logContext)
  }
  const context = {
    ...taskContext,
    settings: { ...taskContext.settings, onError },
    engine: watchWrites(boundEngineCalls(engine, clock, onError), taskContext.writeHealth),
  }
  const state: WorkerState = {
    context,
    runInOrigin: captureAsyncContext(),
    attempts: new Set(),
    abandonController: new AbortController(),
    closeController,
    timers: new Map(),
    idleListeners: new Set(),
    backgroundWork: new Set(),
    drainCount: 0,
    claimingRunCount: 0,
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
    run: (id, options = {}) => state.runInOrigin(() => runClaimedTask(state, id, options)),
    drain: () => state.runInOrigin(() => drainWorker(state)),
    close: async (graceMs) => {
      const endTimers = (): void => {
        state.closeController.abort()
        for (const timer of state.timers.values()) clock.clearTimeout(timer)
      }
      const closeWorker = async (): Promise<void> => {
        await releaseAttempts(state, graceMs)
        endTimers()
        void state.subscription?.then((stopListening) => stopListening?.())
        if (state.backgroundWork.size > 0) await waitForBackgroundWork(state)
      }
      await settlesWithin(closeWorker(), graceMs + 2 * finalGraceMs, clock)
      state.abandonController.abort()
      endTimers()
    },
  }
}

function startWorker(state: WorkerState): void {
  state.isStarted = true
  if (state.closeController.signal.aborted) return
  const { engine, settings } = state.context
  if (settings.runWorker || settings.runner !== undefined) state.subscription = listenForTasks(state)
  if (settings.runner !== undefined)
    runEvery(state, dispatchIntervalMs, () => dispatchDueTasks(engine, state.context.dispatch))
  runEvery(state, Math.max(1, Math.floor(engine.leaseMs / 3)), () => sendHeartbeats(state))
  runEvery(state, sweepIntervalMs, () => engine.deleteExpiredTasks())
  if (settings.runWorker) scheduleClaim(state)
  claimTasksForFreeSlots(state)
}

/** Milliseconds that handlers have to end after their abort, and that the engine then has for the last writes. */
const finalGraceMs = 1000

async function releaseAttempts(state: WorkerState, graceMs: number): Promise<void> {
  drainWorker(state)
  // A claim that has not settled may still return tasks, which are then released with the others.
  if (state.isClaiming || state.claimingRunCount > 0) await waitForBackgroundWork(state)
  await waitForAttempts(state, graceMs)
  for (const attempt of state.attempts) stopAttempt(attempt, { kind: 'released' })
  await waitForAttempts(state, finalGraceMs)
  // From here on, a write that fails is not repeated.
  state.abandonController.abort()
  await Promise.all([...state.attempts].map((attempt) => attempt.isFinished || releaseAttempt(attempt, state.context)))
}

function drainWorker(state: WorkerState): () => void {
  let isActive = true
  state.drainCount++
  for (const attempt of state.attempts) requestRelease(attempt)
  return () => {
    if (isActive) state.drainCount--
    isActive = false
    if (state.isStarted) claimTasksForFreeSlots(state)
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
  if (state.context.settings.runWorker) runInBackground(state, () => claimWhileFree(state))
}

/**
 * Claims tasks for the free slots. A call that comes during a claim causes one more claim. Afterwards the next poll is
 * scheduled.
 */
async function claimWhileFree(state: WorkerState): Promise<void> {
  state.shouldClaimAgain = true
  if (state.isClaiming) return
  state.isClaiming = true
  let nextDueMs: number | undefined
  try {
    while (state.shouldClaimAgain && countFreeSlots(state) > 0) {
      state.shouldClaimAgain = false
      const claims = await state.context.engine.claim({ maxClaims: countFreeSlots(state), worker: nameOfWorker() })
      nextDueMs = claims.nextDueMs
      for (const task of claims.tasks) void runAttempt(state, addAttempt(state, task))
    }
  } catch (error) {
    state.context.settings.onError(error)
  } finally {
    state.isClaiming = false
    scheduleClaim(state, nextDueMs)
  }
}

/**
 * Schedules the next claim, in case no notification causes one before. The pause is partly random, so that instances do
 * not all claim at the same moment.
 */
function scheduleClaim(state: WorkerState, nextDueMs = Number.POSITIVE_INFINITY): void {
  const { clock } = state.context.settings
  clock.clearTimeout(state.timers.get('claim'))
  if (state.closeController.signal.aborted) return
  const pauseMs = Math.min(
    workPollMs * (0.75 + Math.random() / 2),
    Math.max(nextDueMs, minClaimPauseMs) * (1 + Math.random() / 4),
  )
  state.timers.set(
    'claim',
    startBackgroundTimer(clock, () => claimTasksForFreeSlots(state), pauseMs),
  )
}

/**
 * Milliseconds between two claims without a notification, at random up to a quarter more or less. A task waits for this
 * time if a process dies after its write and before the notification. Ten idle instances send less than two statements
 * a second.
 */
const workPollMs = 7500

/** The smallest number of milliseconds between two claims, even if a task is due sooner. */
const minClaimPauseMs = 20

function countFreeSlots({ context, attempts, claimingRunCount, drainCount, closeController }: WorkerState): number {
  if (closeController.signal.aborted || drainCount > 0) return 0
  return context.settings.concurrency - attempts.size - claimingRunCount
}

/** Creates the attempt of a claimed task. */
function addAttempt(state: WorkerState, task: ClaimedTask): Attempt {
  const attempt = openAttempt(task, state.abandonController.signal)
  state.attempts.add(attempt)
  // A drain may have begun during the claim.
  if (state.drainCount > 0) stopAttempt(attempt, { kind: 'released' })
  return attempt
}

/** Runs a claimed task. Never rejects. */
async function runAttempt(state: WorkerState, attempt: Attempt): Promise<void> {
  await runTask(attempt, state.context)
  state.attempts.delete(attempt)
  if (state.attempts.size === 0) for (const notifyIdle of state.idleListeners) notifyIdle()
  claimTasksForFreeSlots(state)
}

/** Milliseconds after which a run is tried again that found no free slot. */
const noSlotRetryMs = 1000

async function runClaimedTask(state: WorkerState, id: string, { signal, budgetMs }: RunOptions): Promise<RunOutcome> {
  const { engine, settings } = state.context
  if (budgetMs !== undefined) checkedNumber('budgetMs', budgetMs, { max: maxTimerMs })
  signal?.throwIfAborted()
  if (!state.isStarted) startWorker(state)
  if (countFreeSlots(state) < 1) return { status: 'busy', retryAfterMs: noSlotRetryMs }
  const createTimeoutError = (): Error => new Error('The budget of the run is used up')
  const scope = openAbortScope(signal, { timeoutMs: budgetMs, clock: settings.clock, createTimeoutError })
  try {
    const attemptPromise = claimTask(state, id)
    // The close of the worker waits for background work.
    runInBackground(state, () => attemptPromise.catch(() => {}))
    const attempt = await attemptPromise
    if (attempt === undefined) return await outcomeWithoutClaim(engine, id)
    onCancel(scope.signal, () => requestRelease(attempt))
    await runAttempt(state, attempt)
    return attempt.end === undefined ? await outcomeWithoutClaim(engine, id) : { status: attempt.end }
  } finally {
    scope.close()
  }
}

async function claimTask(state: WorkerState, id: string): Promise<Attempt | undefined> {
  state.claimingRunCount++
  try {
    const { tasks } = await state.context.engine.claim({ maxClaims: 1, id, worker: nameOfWorker() })
    return tasks[0] && addAttempt(state, tasks[0])
  } finally {
    state.claimingRunCount--
  }
}

async function sendHeartbeats({ attempts, context }: WorkerState): Promise<void> {
  const { clock } = context.settings
  const runningAttempts = [...attempts].filter(({ isFinished, writeStartedAt }) => {
    // A write that runs for longer than the lease may never end. Without a heartbeat, another worker can take over its
    // task.
    const isStuck = writeStartedAt !== undefined && clock.monotonicNow() - writeStartedAt > context.engine.leaseMs
    return !isFinished && !isStuck
  })
  if (runningAttempts.length === 0) return
  const leaseStates = await context.engine.heartbeat(runningAttempts.map(({ task }) => task))
  runningAttempts.forEach((attempt, index) => applyLeaseState(attempt, leaseStates[index] ?? 'lost'))
}

/** Runs a function repeatedly. Each run begins `intervalMs` after the run before has settled. */
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

/** Waits until all running calls of the engine have settled, at most for `finalGraceMs`. */
async function waitForBackgroundWork({ backgroundWork, context }: WorkerState): Promise<void> {
  await settlesWithin(Promise.all(backgroundWork), finalGraceMs, context.settings.clock)
}

/** Resolves when no attempt is running, at the latest after `timeoutMs`. */
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
