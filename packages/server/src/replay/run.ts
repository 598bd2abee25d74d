import { isCancelled } from '@x/core'
import type { JsonObject } from '@x/schema'
import type { Context, InputRequiredReturn, TaskChoice } from '../definitions/context.ts'
import { allowUnawaited, type Awaitable, runAfterTick } from '../request/awaitable.ts'
import { beginHandOff, endHandOff } from '../shedding/load-monitor.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import { HandlerError, stateDisabledMessage, suspensionFor, toInternalError } from './handler-error.ts'
import { type AskedQuestion, finishedEnd, higherEnd, type RunEnd } from './run-end.ts'
import { checkHandlerKey, RunJournal } from './run-journal.ts'
import { onRequestCancelled, type ServedRequest } from './served-request.ts'

/** A handler, and the conversion of its return value into a result. */
export interface Handler<T> {
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequiredReturn>
  readonly toResult: (returnValue: T) => Awaitable<JsonObject>
  /** The author's choice whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
  /**
   * True if the handler may have effects, so that its result is stored for calls that are sent again. Without effects,
   * the handler runs again instead.
   */
  readonly hasEffects?: boolean | undefined
}

/** The return value of a handler, or the error that it threw. */
export type RunOutcome<T> = { readonly returned: T | InputRequiredReturn } | { readonly thrown: unknown }

/** A question or a step that a handler has started. */
export interface StartedUse {
  readonly isQuestion: boolean
  /** The call as error messages show it, such as `ctx.step("charge")`. */
  readonly description: string
  /** True once the handler waits for the promise, directly or through a function such as `Promise.all`. */
  readonly isAwaited: boolean
  readonly isSettled: boolean
  /** The number of uses of the run that had failed before this one started. */
  readonly failuresBefore: number
  /** The error with which the promise was rejected, and its place among the failures. Undefined if it was not rejected. */
  readonly failure: { readonly error: unknown; readonly index: number } | undefined
}

/**
 * The state of a run. A stop turns `running` into `stopping`, and the next turn of the event loop into `suspended`,
 * once no answer is being parsed. When the handler has ended, `close` turns `running` into `closed`, and `stopping` into
 * `suspended`. A journal that cannot be stored turns both into `suspended` at once. `docs/architecture.md` has the
 * diagram.
 */
type RunPhase = 'running' | 'stopping' | 'suspended' | 'closed'

/** The promise that the handler of a stopped run waits for. */
interface RunStop {
  readonly promise: Promise<never>
  readonly reject: (error: Error) => void
}

/**
 * One run of a handler, which starts at its beginning. A call that asks its client has a run for each round, and only
 * the last run finishes. The run owns its phase, its end and its pending work: other files call its methods. Every call
 * of a handler creates a run, so its creation must be cheap.
 */
export class Run {
  readonly request: ServedRequest
  /** The name of the tool or prompt, or the URI of the resource, whose handler runs. */
  readonly name: string
  /** True if every step ends the run, to find code that is not repeatable. */
  readonly isStrict: boolean
  #journal: RunJournal | undefined
  #phase: RunPhase = 'running'
  #end: RunEnd | undefined
  #stop: RunStop | undefined
  /** The number of steps that run plus the number of answers that are being parsed. */
  #pendingWorkCount = 0
  /** The number of answers that are being parsed. */
  #pendingParseCount = 0
  /** The functions that resolve the promises of `waitForWork`. */
  #waits: (() => void)[] | undefined
  #startedUses: StartedUse[] | undefined
  #failureCount = 0
  /** True while the synchronous part of a step's function runs. */
  #isInStep = false
  #askedQuestions: Map<string, AskedQuestion> | undefined
  #closedWhileStopping = false
  #isHandOffCounted = false
  #questionCount = 0
  /** The controller of `ctx.signal`. Undefined until the handler reads `ctx.signal`. */
  #controller: AbortController | undefined

  /** `journal` is the journal of earlier runs. The first run of a call usually has none. */
  constructor(request: ServedRequest, name: string, journal?: RunJournal, isStrict = false) {
    this.request = request
    this.name = name
    this.isStrict = isStrict
    this.#journal = journal
  }

  /** The journal. Most calls need none, so reading it creates it. */
  get journal(): RunJournal {
    this.#journal ??= new RunJournal(this.request)
    return this.#journal
  }

  /** The journal if the run has one already. */
  get existingJournal(): RunJournal | undefined {
    return this.#journal
  }

  /** The end of the run that is known so far. An end with a higher rank may replace it. */
  get end(): RunEnd | undefined {
    return this.#end
  }

  /** The questions that the client has to answer. Undefined if the run asks nothing, or has an end of a higher rank. */
  get askedQuestions(): ReadonlyMap<string, AskedQuestion> | undefined {
    return this.#end?.kind === 'asked' ? this.#end.questions : undefined
  }

  /** True if the run is suspended or closed, so that its context can no longer be used. */
  get isOver(): boolean {
    return this.#phase === 'suspended' || this.#phase === 'closed'
  }

  /** True if a question, a task, a hand-off or a restart stopped the run. A journal that cannot be stored does not. */
  get wasStopped(): boolean {
    return this.#stop !== undefined
  }

  /** True if the run was closed after its stop, but before the suspension could reach the handler. */
  get closedWhileStopping(): boolean {
    return this.#closedWhileStopping
  }

  /** True if a step runs or an answer is being parsed. */
  get hasPendingWork(): boolean {
    return this.#pendingWorkCount > 0
  }

  /** The questions and steps that the handler has started. Undefined while there are none, as in most calls. */
  get startedUses(): readonly StartedUse[] | undefined {
    return this.#startedUses
  }

  /** The number of questions of this run that were emitted as events. */
  get questionCount(): number {
    return this.#questionCount
  }

  /** Counts a question that was emitted as an event. */
  countQuestion(): void {
    this.#questionCount++
  }

  // Uses of the context

  /**
   * Throws if the context can no longer be used: the suspension if the run is suspended, and a `HandlerError` if the
   * call has ended.
   */
  checkNotOver(functionName: string): void {
    if (!this.isOver) return
    if (this.#phase === 'suspended') throw this.#createSuspension()
    throw new HandlerError(
      'ended',
      `${functionName} was used after the call had ended: await everything that the handler starts`,
    )
  }

  /** Throws if the context cannot be used now, because the run is over or the function of a step calls it. */
  checkUse(functionName: string, advice = 'steps do work, the handler asks'): void {
    this.checkNotOver(functionName)
    if (this.#isInStep) throw this.fail(new HandlerError('nested', `${functionName} was used inside a step: ${advice}`))
  }

  /**
   * Records a call of a `ctx` function, such as a `step`. A key can be used once for each kind. `text` is the text of a
   * question, which must be the same in later runs. Throws a `HandlerError` for a misuse, and the suspension if the run
   * is suspended.
   */
  registerUse(kind: string, key: string, functionName: string, text = ''): void {
    this.checkUse(functionName)
    this.checkKey(key, functionName)
    if (this.journal.addUse(`${kind} ${key}`, text)) return
    const advice = `give each its own, such as "${key}/17"`
    throw this.fail(
      new HandlerError('duplicate', `${functionName} was given the key "${key}" twice in one run: ${advice}`),
    )
  }

  /** Throws for an invalid key, and fails the call. A question is not read before, because it may stand in its place. */
  checkKey(key: unknown, functionName: string): void {
    try {
      checkHandlerKey(key, functionName)
    } catch (error) {
      if (error instanceof HandlerError) this.fail(error)
      throw error
    }
  }

  /** Adds a question or step that the handler has started, unless the run is over. */
  addStartedUse(use: StartedUse): void {
    if (this.isOver) return
    if (this.#startedUses === undefined) this.#startedUses = [use]
    else this.#startedUses.push(use)
  }

  /** The number of questions and steps that have failed so far. */
  get failureCount(): number {
    return this.#failureCount
  }

  /** Counts a question or step that has failed. Returns the number of those before it. */
  countFailure(): number {
    return this.#failureCount++
  }

  // Pending work: the response waits for it, even if the run is suspended meanwhile.

  /** Counts the beginning of pending work: of a step, or of the parsing of an answer. */
  beginWork(): void {
    this.#pendingWorkCount++
  }

  /** Counts the end of pending work. */
  endWork(): void {
    this.#pendingWorkCount--
    if (!this.hasPendingWork) this.#endWaits()
  }

  /** Calls the function of a step. Any use of the context before the function's first `await` fails the call. */
  callInStep<A, T>(work: (argument: A) => T, argument: A): T {
    this.#isInStep = true
    try {
      return work(argument)
    } finally {
      this.#isInStep = false
    }
  }

  /**
   * Waits until an answer is parsed. The run is suspended at the earliest one turn of the event loop later. So the handler
   * can continue with this answer and ask its next question in the same round.
   */
  async waitForParsing<T>(parsing: PromiseLike<T>): Promise<T> {
    this.#pendingParseCount++
    this.beginWork()
    try {
      return await parsing
    } finally {
      this.endWork()
      this.#pendingParseCount--
      if (this.wasStopped) this.#scheduleSuspension()
    }
  }

  /** Returns a promise that resolves when all pending work is done, or when the journal cannot be stored. */
  waitForWork(): Promise<void> {
    return new Promise((resolve) => {
      this.#waits ??= []
      this.#waits.push(resolve)
    })
  }

  #endWaits(): void {
    for (const resolve of this.#waits ?? []) resolve()
    this.#waits = undefined
  }

  // Ends

  /**
   * Fails the call, even if the handler catches the error. The handler continues. Returns the error. Once the run is
   * closed, a misuse by work that still runs does not replace what the handler returned or threw.
   */
  fail(error: HandlerError): HandlerError {
    const isDecided = this.#phase === 'closed' || (this.#closedWhileStopping && this.#end?.kind === 'finished')
    if (!isDecided) this.#proposeEnd({ kind: 'misused', error })
    return error
  }

  /**
   * Fails the call because its journal could not be stored, and suspends the run at once. Returns the suspension that
   * stops the handler.
   */
  failStore(error: unknown): Error {
    this.#proposeEnd({ kind: 'store_failed', error: toInternalError(error, this.request, this.name) })
    this.#suspend()
    this.#endWaits()
    return this.#createSuspension()
  }

  /**
   * Adds a question to those that the run asks. The returned promise rejects when the run is suspended, one turn of the
   * event loop later. Until then, parallel branches of the handler can ask their questions, so that all questions are
   * sent in one round.
   */
  ask(key: string, question: AskedQuestion): Promise<never> {
    if (this.request.settings.stateCodec === undefined && this.request.journalStore === undefined)
      throw this.fail(new HandlerError('state', stateDisabledMessage))
    this.#askedQuestions ??= new Map()
    this.#askedQuestions.set(key, question)
    return this.#stopWith({ kind: 'asked', questions: this.#askedQuestions })
  }

  /**
   * Discards the open questions, so that the handler's return value becomes the result of the call. It is the only
   * method that replaces an end by one of a lower rank.
   */
  dropQuestions(): void {
    if (this.#end?.kind === 'asked') this.#end = finishedEnd
  }

  /**
   * Stops the run so that the call continues as a task. If the run asks a question meanwhile, the question is sent
   * first, and a later run makes the call a task.
   */
  becomeTask(): Promise<never> {
    return this.#stopWith({ kind: 'became_task' })
  }

  /**
   * Stops the run so that the call continues at another instance. If the run asks a question meanwhile, the question is
   * sent instead, because its answer may reach another instance anyway.
   */
  handOff(reason: HandOffReason): Promise<never> {
    if (!this.isOver && !this.#isHandOffCounted) {
      this.#isHandOffCounted = true
      beginHandOff(this.request.settings.loadMonitor)
    }
    return this.#stopWith({ kind: 'handed_off', reason })
  }

  /** Stops the run so that the handler runs again at once, unless the run gets an end of a higher rank. */
  restart(): Promise<never> {
    return this.#stopWith({ kind: 'restarted' })
  }

  /**
   * Records that the handler has returned or thrown, unless the run is over. If steps still run, the end of a step then
   * neither hands the call off nor restarts the handler.
   */
  proposeFinished(): void {
    if (!this.isOver) this.#proposeEnd(finishedEnd)
  }

  /**
   * Closes the run after its handler has returned or thrown. The context can then no longer ask or record anything. A
   * stopped run becomes suspended, so that code that still runs receives the suspension instead of a `HandlerError`. A
   * second call has no effect.
   */
  close(): void {
    if (this.#isHandOffCounted) endHandOff(this.request.settings.loadMonitor)
    this.#isHandOffCounted = false
    if (this.isOver) return
    this.proposeFinished()
    this.#closedWhileStopping = this.wasStopped
    if (this.wasStopped) this.#suspend()
    else this.#phase = 'closed'
  }

  /** Sets the end, unless the run has an end with the same rank or a higher one. */
  #proposeEnd(end: RunEnd): void {
    this.#end = higherEnd(this.#end, end)
  }

  /**
   * Stops the run with an end. The returned promise rejects when the run is suspended. If the run is over, nothing can
   * stop it any more, so the promise rejects at once.
   */
  #stopWith(end: RunEnd): Promise<never> {
    if (this.isOver) return Promise.reject(this.#createSuspension())
    this.#proposeEnd(end)
    this.#stop ??= this.#createStop()
    return this.#stop.promise
  }

  #createStop(): RunStop {
    let reject: RunStop['reject'] = () => {}
    const promise = new Promise<never>((_, rejectPromise) => {
      reject = rejectPromise
    })
    allowUnawaited(promise)
    this.#phase = 'stopping'
    this.#scheduleSuspension()
    return { promise, reject }
  }

  #scheduleSuspension(): void {
    runAfterTick(() => {
      // Otherwise `waitForParsing` schedules the suspension again when the answer is parsed.
      if (this.#pendingParseCount === 0) this.#suspend()
    })
  }

  /** Suspends the run at once. From then on every `ctx` function rejects, and `ctx.signal` is aborted. */
  #suspend(): void {
    if (this.isOver) return
    this.#phase = 'suspended'
    const suspension = this.#createSuspension()
    this.#stop?.reject(suspension)
    this.#controller?.abort(suspension)
  }

  /** Creates the suspension of this run, which names the open questions. */
  #createSuspension(): Error {
    return suspensionFor([...(this.askedQuestions?.keys() ?? [])])
  }

  // Signal

  /**
   * The signal of the context. It aborts when the call is cancelled, and when the run is suspended.
   */
  get signal(): AbortSignal {
    this.#controller ??= this.#createController()
    return this.#controller.signal
  }

  #createController(): AbortController {
    const controller = new AbortController()
    const { call } = this.request
    if (isCancelled(call)) controller.abort(call.signal.reason)
    else if (this.#phase === 'suspended') controller.abort(this.#createSuspension())
    else onRequestCancelled(this.request, (reason) => controller.abort(reason))
    return controller
  }
}
