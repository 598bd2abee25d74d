import { isCancelled, quoteText } from '@x/core'
import { isSuspension } from '@x/exchange/internal'
import { allowUnawaited, runAfterTick, waitForImmediate } from '../request/awaitable.ts'
import { logContextOf, reportServerError, type WarningCode } from '../request/report.ts'
import { InstanceWork } from '../shedding/hand-off.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import { ContextUses } from './context-uses.ts'
import { HandlerError, stateDisabledMessage, suspensionFor, toInternalError } from './handler-error.ts'
import type { AskedQuestion } from './journal.ts'
import { finishedEnd, higherEnd, type RunEnd } from './run-end.ts'
import { RunJournal } from './run-journal.ts'
import { onRequestCancelled, type ServedRequest } from './served-request.ts'

/** Nothing leaves `suspended` or `closed`. `docs/architecture.md` has the diagram of the phases. */
type RunPhase = 'running' | 'stopping' | 'suspended' | 'closed'

/**
 * One run of a handler, from its beginning. A call that asks its client has a run for each round, and only the last one
 * finishes. The run owns its phase, its end and its pending work. Every call creates one, so that must be cheap:
 * `journal` and `uses` are created when they are first read.
 */
export class Run {
  readonly request: ServedRequest
  /** A tool's or prompt's name, or a resource's URI. */
  readonly name: string
  /** True if every step ends the run, to find code that is not repeatable. */
  readonly isStrict: boolean
  #journal: RunJournal | undefined
  #phase: RunPhase = 'running'
  #end: RunEnd | undefined
  /** Never resolves; rejects to unwind the handler when the run is suspended. */
  #stop: { readonly promise: Promise<never>; readonly reject: (error: unknown) => void } | undefined
  #pendingWorkCount = 0
  #pendingParseCount = 0
  #waits: (() => void)[] | undefined
  #uses: ContextUses | undefined
  #askedQuestions: Map<string, AskedQuestion> | undefined
  #closedWhileStopping = false
  #isHandOffCounted = false
  #controller: AbortController | undefined
  /** Set when it is first needed. */
  #suspension: unknown

  constructor(request: ServedRequest, name: string, journal?: RunJournal, isStrict = false) {
    this.request = request
    this.name = name
    this.isStrict = isStrict
    this.#journal = journal
  }

  /** Begins with the journal of earlier runs, or with the answers that came with the first request. */
  continueFrom(journal: RunJournal): void {
    this.#journal = journal
  }

  get journal(): RunJournal {
    this.#journal ??= new RunJournal(this.request)
    return this.#journal
  }

  get existingJournal(): RunJournal | undefined {
    return this.#journal
  }

  get end(): RunEnd | undefined {
    return this.#end
  }

  /** The questions for the client. Undefined if the run asks nothing, or has an end of a higher rank. */
  get askedQuestions(): ReadonlyMap<string, AskedQuestion> | undefined {
    return this.#end?.kind === 'asked' ? this.#end.questions : undefined
  }

  /** True if the context can no longer be used. */
  get isOver(): boolean {
    return this.#phase === 'suspended' || this.#phase === 'closed'
  }

  /** True if a question, a task, a hand-off or a restart stopped the run. */
  get wasStopped(): boolean {
    return this.#stop !== undefined
  }

  /** True if the run was closed before the suspension could reach the handler. */
  get closedWhileStopping(): boolean {
    return this.#closedWhileStopping
  }

  get hasPendingWork(): boolean {
    return this.#pendingWorkCount > 0
  }

  /** The request's work on this instance, which begins when this is first read: at its first step or checkpoint. */
  get work(): InstanceWork {
    const { loadMonitor, now } = this.request.settings
    this.request.work ??= new InstanceWork(loadMonitor, now)
    return this.request.work
  }

  get uses(): ContextUses {
    this.#uses ??= new ContextUses(this)
    return this.#uses
  }

  get existingUses(): ContextUses | undefined {
    return this.#uses
  }

  /** How a run ends whose call rejects. A task that its worker releases is aborted as a cancelled call is. */
  get rejectedEnd(): 'failed' | 'cancelled' | 'handed_off' {
    const { call } = this.request
    if (!isCancelled(call)) return 'failed'
    return isSuspension(call.signal.reason) ? 'handed_off' : 'cancelled'
  }

  /** Throws if the context can no longer be used: the suspension, or a `HandlerError` if the call has ended. */
  checkNotOver(functionName: string): void {
    if (!this.isOver) return
    if (this.#phase === 'suspended') throw this.#rejection
    const message = `${functionName} was used after the call had ended: await everything that the handler starts`
    throw new HandlerError('ended', message)
  }

  /** Logs an error whose details the client does not receive. */
  report(error: unknown): void {
    reportServerError(error, logContextOf(this.request, this.name), this.request.settings)
  }

  /** Warns the author. `problem` continues a sentence that begins with the handler's name. */
  warn(code: WarningCode, problem: string, key?: string): void {
    const { method, settings } = this.request
    const message = `${method} ${quoteText(this.name)} ${problem}`
    settings.warn({ code, message, where: { method, name: this.name }, key })
  }

  /** Counts a step or the parsing of an answer. The response waits for it, even if the run is suspended meanwhile. */
  beginWork(): void {
    this.#pendingWorkCount++
  }

  endWork(): void {
    this.#pendingWorkCount--
    if (!this.hasPendingWork) this.#endWaits()
  }

  #endWaits(): void {
    for (const resolve of this.#waits ?? []) resolve()
    this.#waits = undefined
  }

  /**
   * Waits until an answer is parsed, and keeps the run from being suspended for at least one more turn of the event
   * loop, so that the handler can ask its next question in the same round.
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

  /** Resolves when all pending work is done, or when the journal cannot be stored. */
  waitForWork(): Promise<void> {
    return new Promise((resolve) => {
      this.#waits ??= []
      this.#waits.push(resolve)
    })
  }

  /** Waits for the pending work and for what begins meanwhile; undefined if there is none. */
  finishWork(): Promise<void> | undefined {
    // Once the journal could not be stored, nothing more is recorded.
    return this.hasPendingWork && this.#end?.kind !== 'store_failed' ? this.#finishWork() : undefined
  }

  async #finishWork(): Promise<void> {
    await this.waitForWork()
    // The handler's promises are settled in the same turn of the event loop, after the work.
    await waitForImmediate()
    await this.finishWork()
  }

  /**
   * Fails the call, even if the handler catches the error, and returns the error. Once the run is closed, a misuse by
   * work that still runs does not replace what the handler returned or threw.
   */
  fail(error: HandlerError): HandlerError {
    const isDecided = this.#phase === 'closed' || (this.#closedWhileStopping && this.#end?.kind === 'finished')
    if (!isDecided) this.#end = higherEnd(this.#end, { kind: 'misused', error })
    return error
  }

  /**
   * Fails the call because its journal could not be stored, and returns the suspension that stops the handler at once.
   */
  failStore(error: unknown): unknown {
    this.#end = higherEnd(this.#end, { kind: 'store_failed', error: toInternalError(error, this) })
    this.#suspend()
    this.#endWaits()
    return this.#rejection
  }

  /**
   * Adds a question. The run is suspended only one turn of the event loop later, which rejects the returned promise:
   * until then, parallel branches of the handler can ask in the same round.
   */
  ask(key: string, question: AskedQuestion): Promise<never> {
    if (this.request.settings.stateCodec === undefined && this.request.journalStore === undefined)
      throw this.fail(new HandlerError('state', stateDisabledMessage))
    // Bounded by the questions of one run.
    this.#askedQuestions ??= new Map()
    this.#askedQuestions.set(key, question)
    return this.#stopWith({ kind: 'asked', questions: this.#askedQuestions })
  }

  /**
   * Discards the open questions. No other method replaces an end by one of a lower rank. A cancelled task keeps them:
   * they have thrown, as its steps do, so what its handler returns after that is not its result.
   */
  dropQuestions(): void {
    const isCancelledTask = this.request.journalStore !== undefined && this.rejectedEnd === 'cancelled'
    if (this.#end?.kind === 'asked' && !isCancelledTask) this.#end = finishedEnd
  }

  /** Stops the run so that the call continues as a task. A question that the run asks meanwhile is sent first. */
  becomeTask(): Promise<never> {
    return this.#stopWith({ kind: 'became_task' })
  }

  /**
   * Stops the run so that the call continues at another instance. A question that the run asks meanwhile is sent
   * instead, because its answer may reach another instance anyway.
   */
  handOff(reason: HandOffReason): Promise<never> {
    if (!this.isOver && !this.#isHandOffCounted) {
      this.#isHandOffCounted = true
      this.request.settings.loadMonitor.beginHandOff()
    }
    return this.#stopWith({ kind: 'handed_off', reason })
  }

  restart(): Promise<never> {
    return this.#stopWith({ kind: 'restarted' })
  }

  /**
   * Notes that the handler has ended: from now on, the end of a step neither hands the call off nor restarts the
   * handler.
   */
  proposeFinished(): void {
    if (!this.isOver) this.#end = higherEnd(this.#end, finishedEnd)
  }

  /**
   * Closes the run of a handler that has ended, so that its context can no longer ask or record. If the run was
   * stopped, it becomes suspended, and code that still runs gets the suspension instead of a `HandlerError`.
   */
  close(): void {
    if (this.#isHandOffCounted) this.request.settings.loadMonitor.endHandOff()
    this.#isHandOffCounted = false
    if (this.isOver) return
    this.proposeFinished()
    this.#closedWhileStopping = this.wasStopped
    if (this.wasStopped) this.#suspend()
    else this.#phase = 'closed'
  }

  /** Rejects when the run is suspended. If it is over, nothing can stop it any more, so the rejection comes at once. */
  #stopWith(end: RunEnd): Promise<never> {
    if (this.isOver) return Promise.reject(this.#rejection)
    this.#end = higherEnd(this.#end, end)
    return this.#stop?.promise ?? this.#createStop()
  }

  #createStop(): Promise<never> {
    let reject: (error: unknown) => void = () => {}
    const promise = new Promise<never>((_, rejectPromise) => {
      reject = rejectPromise
    })
    allowUnawaited(promise)
    this.#stop = { promise, reject }
    this.#phase = 'stopping'
    this.#scheduleSuspension()
    return promise
  }

  #scheduleSuspension(): void {
    runAfterTick(() => {
      // While an answer is parsed, `waitForParsing` schedules the suspension again.
      if (this.#pendingParseCount === 0) this.#suspend()
    })
  }

  #suspend(): void {
    if (this.isOver) return
    this.#phase = 'suspended'
    this.#stop?.reject(this.#rejection)
    this.#controller?.abort(this.#rejection)
  }

  /**
   * What the functions of a run that is over reject with. The handler of a cancelled call does not run again, so it gets
   * the reason, and may have something to undo.
   */
  get #rejection(): unknown {
    this.#suspension ??=
      this.rejectedEnd === 'cancelled'
        ? this.request.call.signal.reason
        : suspensionFor([...(this.askedQuestions?.keys() ?? [])])
    return this.#suspension
  }

  /** Aborts when the call is cancelled, and when the run is suspended. */
  get signal(): AbortSignal {
    this.#controller ??= this.#createController()
    return this.#controller.signal
  }

  #createController(): AbortController {
    const controller = new AbortController()
    const { call } = this.request
    if (isCancelled(call)) controller.abort(call.signal.reason)
    else if (this.#phase === 'suspended') controller.abort(this.#rejection)
    else onRequestCancelled(this.request, (reason) => controller.abort(reason))
    return controller
  }
}
