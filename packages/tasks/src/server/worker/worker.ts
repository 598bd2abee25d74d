import {
  captureAsyncContext,
  checkedNumber,
  type Clock,
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
import { Attempt, type WorkerContext } from './attempt.ts'
import { boundEngineCalls } from './bounded-engine.ts'
import { watchWrites } from '../write-health.ts'
import { releaseAttempt, runTask } from './run-task.ts'
import type { ClaimedTask, EngineListener } from '../../engines/engine.ts'

const firstPauseMs = 250
const longestPauseMs = 30_000

/**
 * Listens to the engine, and retries until that succeeds. Of an outage only the first failure is logged, because the
 * worker also polls and logs the failures of its polls. Resolves with the function that stops listening, or undefined
 * if the signal aborts before.
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
      // Nobody has notified this worker of a task that became ready after its last claim and before it listened.
      listener.onWork()
      return stop
    } catch (error) {
      if (pauseMs === firstPauseMs) onError(error)
      await sleep(pauseMs, { clock, signal, isBackground: true }).catch(() => {})
    }
  }
  return undefined
}

const sweepIntervalMs = 60_000

const dispatchIntervalMs = 30_000

/** Milliseconds that handlers have to end after their abort, and that the engine then has for the last writes. */
const finalGraceMs = 1000

/**
 * Milliseconds between two claims without a notification, at random up to a quarter more or less. A task waits this
 * long if a process dies after its write and before the notification. Ten idle instances send less than two statements
 * a second.
 */
const workPollMs = 7500

/** Least number of milliseconds between two claims, even if a task is due sooner. */
const minClaimPauseMs = 20

const noSlotRetryMs = 1000

function nameOfWorker(): string | undefined {
  const { pid, env } = globalThis.process ?? {}
  return pid === undefined ? undefined : `${env?.['HOSTNAME'] ?? 'process'}:${pid}`
}

/** Throws `RangeError` for what is no time. A runner computes the budget, so it may be a fraction, or below 0. */
function isBudgetUsedUp(budgetMs = maxTimerMs): boolean {
  return checkedNumber('budgetMs', budgetMs < 0 ? 0 : budgetMs, { min: 0, max: maxTimerMs, isWhole: false }) === 0
}

/** Claims ready tasks, and runs up to `concurrency` of them at once in this process. */
export class Worker {
  readonly #context: WorkerContext
  /** Runs a function in the asynchronous context in which the server was created, and not in that of a request. */
  readonly #runInOrigin = captureAsyncContext()
  // Bounded by `concurrency` of the worker.
  readonly #attempts = new Set<Attempt>()
  /** Aborts when the worker closes. A write that fails after that is not repeated. */
  readonly #abandonController = new AbortController()
  readonly #closeController = new AbortController()
  // Bounded by the kinds of periodic work.
  readonly #timers = new Map<string, unknown>()
  // Bounded by the waits for the worker's end.
  readonly #idleListeners = new Set<() => void>()
  // Bounded by the kinds of work in the background, one of each.
  readonly #backgroundWork = new Set<Promise<void>>()
  #drainCount = 0
  #claimingRunCount = 0
  #isClaiming = false
  #shouldClaimAgain = false
  #subscription: Promise<(() => void) | undefined> | undefined
  #isStarted = false

  /** Does not call the engine before `start`. */
  constructor(taskContext: TaskContext) {
    const { engine, clock } = taskContext.settings
    const onError: TaskSettings['onError'] = (error, logContext) => {
      // A missing package stays missing until the process is started again.
      if (isMissingModuleError(error)) this.#closeController.abort()
      taskContext.settings.onError(error, logContext)
    }
    this.#context = {
      ...taskContext,
      settings: { ...taskContext.settings, onError },
      engine: watchWrites(boundEngineCalls(engine, clock, onError), taskContext.writeHealth),
    }
  }

  get runningCount(): number {
    return this.#attempts.size
  }

  /** Starts to listen for tasks and to claim them. A second call does nothing, nor does one after `close`. */
  start(): void {
    if (!this.#isStarted) this.#runInOrigin(() => this.#startOnce())
  }

  /** Claims one task and runs it. Starts the worker. */
  run(id: string, options: RunOptions = {}): Promise<RunOutcome> {
    return this.#runInOrigin(() => this.#runOne(id, options))
  }

  /**
   * Stops claiming, and releases each running task at the end of its current step. Call the returned function to
   * resume.
   */
  drain(): () => void {
    let isActive = true
    this.#drainCount++
    for (const attempt of this.#attempts) attempt.requestRelease()
    return () => {
      if (isActive) this.#drainCount--
      isActive = false
      if (this.#isStarted) this.#claimForFreeSlots()
    }
  }

  /**
   * Releases each task at the end of its current step, at the latest after `graceMs`. Resolves at the latest 2 seconds
   * after `graceMs`, even if the engine never answers.
   */
  async close(graceMs: number): Promise<void> {
    const closeInOrder = async (): Promise<void> => {
      await this.#releaseAttempts(graceMs)
      this.#endTimers()
      void this.#subscription?.then((stopListening) => stopListening?.())
      if (this.#backgroundWork.size > 0) await this.#waitForBackgroundWork()
    }
    await settlesWithin(closeInOrder(), graceMs + 2 * finalGraceMs, this.#clock)
    this.#abandonController.abort()
    this.#endTimers()
  }

  get #clock(): Clock {
    return this.#context.settings.clock
  }

  #startOnce(): void {
    this.#isStarted = true
    if (this.#isClosed) return
    const { engine, settings, dispatch } = this.#context
    const { runWorker, runner } = settings
    if (runWorker || runner !== undefined) this.#subscription = this.#listenForTasks()
    if (runner !== undefined) this.#runEvery(dispatchIntervalMs, () => dispatchDueTasks(engine, dispatch))
    this.#runEvery(Math.max(1, Math.floor(engine.leaseMs / 3)), () => this.#sendHeartbeats())
    this.#runEvery(sweepIntervalMs, () => engine.deleteExpiredTasks())
    if (runWorker) this.#scheduleClaim()
    this.#claimForFreeSlots()
  }

  get #isClosed(): boolean {
    return this.#closeController.signal.aborted
  }

  #endTimers(): void {
    this.#closeController.abort()
    for (const timer of this.#timers.values()) this.#clock.clearTimeout(timer)
  }

  async #releaseAttempts(graceMs: number): Promise<void> {
    this.drain()
    // A claim that has not settled may still return tasks, which are then released with the others.
    if (this.#isClaiming || this.#claimingRunCount > 0) await this.#waitForBackgroundWork()
    await this.#waitForAttempts(graceMs)
    for (const attempt of this.#attempts) attempt.stop({ kind: 'released' })
    await this.#waitForAttempts(finalGraceMs)
    // From here on, a write that fails is not repeated.
    this.#abandonController.abort()
    await Promise.all([...this.#attempts].map((attempt) => attempt.isFinished || releaseAttempt(attempt)))
  }

  #listenForTasks(): Promise<(() => void) | undefined> {
    const onWork = (): void => this.#claimForFreeSlots()
    const onCancel = (id: string): void =>
      this.#runInOrigin(() => {
        for (const attempt of this.#attempts) if (attempt.task.id === id) attempt.applyLeaseState('cancelling')
      })
    return listenForWork({ onWork, onCancel }, this.#closeController.signal, this.#context)
  }

  #claimForFreeSlots(): void {
    if (this.#context.settings.runWorker) this.#runInBackground(() => this.#claimWhileFree())
  }

  /**
   * Claims tasks for the free slots. If called during a claim, it claims once more. Afterwards the next poll is
   * scheduled.
   */
  async #claimWhileFree(): Promise<void> {
    this.#shouldClaimAgain = true
    if (this.#isClaiming) return
    this.#isClaiming = true
    let nextDueMs: number | undefined
    try {
      while (this.#shouldClaimAgain && this.#countFreeSlots() > 0) {
        this.#shouldClaimAgain = false
        const claims = await this.#context.engine.claim({ maxClaims: this.#countFreeSlots(), worker: nameOfWorker() })
        nextDueMs = claims.nextDueMs
        for (const task of claims.tasks) void this.#runAttempt(this.#addAttempt(task))
      }
    } catch (error) {
      this.#context.settings.onError(error)
    } finally {
      this.#isClaiming = false
      this.#scheduleClaim(nextDueMs)
    }
  }

  /**
   * In case no notification causes a claim before. The pause is partly random, so that instances do not all claim at
   * the same moment.
   */
  #scheduleClaim(nextDueMs = Number.POSITIVE_INFINITY): void {
    const clock = this.#clock
    clock.clearTimeout(this.#timers.get('claim'))
    if (this.#isClosed) return
    const pauseMs = Math.min(
      workPollMs * (0.75 + Math.random() / 2),
      Math.max(nextDueMs, minClaimPauseMs) * (1 + Math.random() / 4),
    )
    this.#timers.set(
      'claim',
      startBackgroundTimer(clock, () => this.#claimForFreeSlots(), pauseMs),
    )
  }

  #countFreeSlots(): number {
    if (this.#isClosed || this.#drainCount > 0) return 0
    return this.#context.settings.concurrency - this.#attempts.size - this.#claimingRunCount
  }

  #addAttempt(task: ClaimedTask): Attempt {
    const attempt = new Attempt(task, this.#context, this.#abandonController.signal)
    this.#attempts.add(attempt)
    // A drain may have begun during the claim.
    if (this.#drainCount > 0) attempt.stop({ kind: 'released' })
    return attempt
  }

  async #runAttempt(attempt: Attempt): Promise<void> {
    await runTask(attempt)
    this.#attempts.delete(attempt)
    if (this.#attempts.size === 0) for (const notifyIdle of this.#idleListeners) notifyIdle()
    this.#claimForFreeSlots()
  }

  async #runOne(id: string, { signal, budgetMs }: RunOptions): Promise<RunOutcome> {
    const { engine } = this.#context
    const isUsedUp = isBudgetUsedUp(budgetMs)
    signal?.throwIfAborted()
    this.start()
    if (isUsedUp || this.#countFreeSlots() < 1) return { status: 'busy', retryAfterMs: noSlotRetryMs }
    const createTimeoutError = (): Error => new Error('The budget of the run is used up')
    const scope = openAbortScope(signal, { timeoutMs: budgetMs, clock: this.#clock, createTimeoutError })
    try {
      const attemptPromise = this.#claimTask(id)
      // The worker's close waits for background work.
      this.#runInBackground(() => attemptPromise.catch(() => {}))
      const attempt = await attemptPromise
      if (attempt === undefined) return await outcomeWithoutClaim(engine, id)
      onCancel(scope.signal, () => attempt.requestRelease())
      await this.#runAttempt(attempt)
      const { runOutcome } = attempt
      return runOutcome === undefined ? await outcomeWithoutClaim(engine, id) : { status: runOutcome }
    } finally {
      scope.close()
    }
  }

  async #claimTask(id: string): Promise<Attempt | undefined> {
    this.#claimingRunCount++
    try {
      const { tasks } = await this.#context.engine.claim({ maxClaims: 1, id, worker: nameOfWorker() })
      return tasks[0] && this.#addAttempt(tasks[0])
    } finally {
      this.#claimingRunCount--
    }
  }

  async #sendHeartbeats(): Promise<void> {
    const { engine } = this.#context
    // A write that runs for longer than the lease may never end. Without a heartbeat, another worker can take over its
    // task.
    const attempts = [...this.#attempts].filter(
      (attempt) => !attempt.isFinished && !attempt.isWriteStuck(engine.leaseMs),
    )
    if (attempts.length === 0) return
    const leaseStates = await engine.heartbeat(attempts.map(({ task }) => task))
    attempts.forEach((attempt, index) => attempt.applyLeaseState(leaseStates[index] ?? 'lost'))
  }

  /** Each run begins `intervalMs` after the one before has settled. */
  #runEvery(intervalMs: number, runOnInterval: () => Promise<unknown>): void {
    const name = String(this.#timers.size)
    const scheduleRun = (): void => {
      if (!this.#isClosed) this.#timers.set(name, startBackgroundTimer(this.#clock, runOnce, intervalMs))
    }
    const runOnce = (): void => this.#runInBackground(() => runOnInterval().finally(scheduleRun))
    scheduleRun()
  }

  #runInBackground(work: () => Promise<unknown>): void {
    const promise: Promise<void> = this.#runInOrigin(work)
      .then(() => {}, this.#context.settings.onError)
      .finally(() => this.#backgroundWork.delete(promise))
    this.#backgroundWork.add(promise)
  }

  async #waitForBackgroundWork(): Promise<void> {
    await settlesWithin(Promise.all(this.#backgroundWork), finalGraceMs, this.#clock)
  }

  #waitForAttempts(timeoutMs: number): Promise<void> {
    if (this.#attempts.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const finishWait = (): void => {
        this.#clock.clearTimeout(timer)
        this.#idleListeners.delete(finishWait)
        resolve()
      }
      const timer = this.#clock.setTimeout(finishWait, timeoutMs)
      this.#idleListeners.add(finishWait)
    })
  }
}
