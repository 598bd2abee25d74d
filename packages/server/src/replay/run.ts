import { onAbort } from '@x/core'
import type { InputRequest, InputResponse, McpError } from '@x/schema'
import { type Awaitable, runAfterTick } from '../request/awaitable.ts'
import type { RequestState } from './served-request.ts'
import { deriveEffectsId } from './call-identity.ts'
import { beginHandOff, endHandOff } from '../shedding/load-monitor.ts'
import type { ShedReason } from '../shedding/shedding-options.ts'
import {
  HandlerError,
  type HandlerProblem,
  stateDisabledMessage,
  toInternalError,
  suspensionFor,
  checkHandlerKey,
} from './handler-error.ts'
import { createEmptyJournal, type Journal } from './journal.ts'
import type { StartedUse } from './started-use.ts'

/**
 * One run of a handler, which starts at its beginning. A call that asks its client has a run for each round, and only
 * the last run finishes.
 */
export interface Run {
  readonly request: RequestState
  /** The name of the tool or prompt, or the URI of the resource, whose handler runs. */
  readonly name: string
  /** Created by `journalOf` on first use, because most calls need no journal. */
  journal: Journal | undefined
  /** The client's answers to the requests of `inputRequired`, by key. */
  responses: ReadonlyMap<string, InputResponse> | undefined
  /**
   * The calls of `ctx` functions so far. Maps `kind key` to the text of a question, or to an empty text for other
   * kinds. Undefined before the first call.
   */
  contextUses: Map<string, string> | undefined
  /** The questions and steps that the handler has started. Undefined while there are none, as in most calls. */
  startedUses: StartedUse[] | undefined
  /**
   * Keys of `contextUses` that the next run need not contain, because it continues from a checkpoint that was saved
   * after them. Filled only in strict replay.
   */
  skippableUseKeys: Set<string> | undefined
  /**
   * The end of the run that is known so far. Another end replaces it only if its rank in {@link endRanks} is higher.
   */
  end: RunEnd | undefined
  phase: 'running' | 'suspended' | 'ended'
  /** The number of steps that are running plus the number of answers that are being parsed. */
  pendingWorkCount: number
  /** The number of answers that are being parsed, which `pendingWorkCount` includes. */
  pendingParseCount: number
  readonly isReplayStrict: boolean
  /** True while the synchronous part of a step's function runs. */
  isInStep: boolean
  /** The promise that the handler of a stopped run waits for. Undefined while nothing stops the run. */
  runStop: RunStop | undefined
  /** True if the handler ended after the run was stopped but before the suspension could reach the handler. */
  hasSwallowedError: boolean
  /** Called when `pendingWorkCount` becomes 0. */
  onWorkDone: (() => void) | undefined
  /** The controller of `ctx.signal`. Undefined until the handler reads `ctx.signal`. */
  controller: AbortController | undefined
  /** True while the load monitor counts this run as one that is being handed off. */
  isHandOffCounted: boolean
  /** True if the call must stay on this instance, because an attempt to hand it off has failed. */
  readonly isBoundToInstance: boolean
  /** The number of stops that had been announced for this instance when the request arrived. */
  readonly drainCount: number
  /** The time, on the clock of `ServerSettings.now`, when the first step or checkpoint of the request began. */
  workStartedAt: number | undefined
  /** The cached result of `effectsIdOf`. */
  effectsId: Awaitable<string> | undefined
  /** The time, on the clock of `ServerSettings.now`, when this run last let the event loop do other work. */
  yieldedAt: number
}

/** The end of a run, which decides how its call continues. */
export type RunEnd =
  /** The journal could not be stored. The call fails, even if the handler catches the error. */
  | { readonly kind: 'store_failed'; readonly error: McpError }
  /** The handler misused its context. The call fails, even if the handler catches the error. */
  | { readonly kind: 'misused'; readonly error: HandlerError }
  /** The client has to answer questions before the call continues. */
  | { readonly kind: 'asked'; readonly questions: Map<string, AskedQuestion> }
  /** The handler returned or threw before the run was stopped. */
  | { readonly kind: 'finished' }
  /** The call continues as a task. */
  | { readonly kind: 'became_task' }
  /** The call continues at another instance. */
  | { readonly kind: 'handed_off'; readonly reason: ShedReason }
  /** The handler runs again at once, because every step ends a run in strict replay. */
  | { readonly kind: 'restarted' }

/**
 * The ranks of ends, for a run in which several occur. The end with the highest rank wins. Of two ends with the same
 * rank, the first one wins. `asked` outranks `finished`, because a handler that caught its suspension has returned
 * without the answer. `finished` outranks `handed_off`, because a handler that has finished needs no other instance.
 */
const endRanks: Readonly<Record<RunEnd['kind'], number>> = {
  store_failed: 7,
  misused: 6,
  asked: 5,
  finished: 4,
  became_task: 3,
  handed_off: 2,
  restarted: 1,
}

/** A question that a run asks the client. */
export interface AskedQuestion {
  readonly request: InputRequest
  /** The JSON of the question, without the reason that is added to its message when it is asked again. */
  readonly text: string
  readonly wireKeyCount: number
  readonly invalidAnswerCount: number
  readonly changeCount: number
}

interface RunStop {
  readonly promise: Promise<never>
  reject(error: Error): void
}

/** The data that a run begins with. The first run of a call usually begins without any. */
export interface RunStart {
  readonly journal?: Journal | undefined
  readonly responses?: ReadonlyMap<string, InputResponse> | undefined
  readonly isReplayStrict?: boolean | undefined
  /** The previous run of the handler for the same request. */
  readonly previousRun?: Run | undefined
  readonly isBoundToInstance?: boolean | undefined
}

/** Creates the state of a run. This must be cheap, because every call of a handler needs a run. */
export function beginRun(request: RequestState, name: string, runStart: RunStart = {}): Run {
  return {
    request,
    name,
    journal: runStart.journal,
    responses: runStart.responses,
    contextUses: undefined,
    startedUses: undefined,
    skippableUseKeys: undefined,
    end: undefined,
    phase: 'running',
    pendingWorkCount: 0,
    pendingParseCount: 0,
    isReplayStrict: runStart.isReplayStrict ?? false,
    isInStep: false,
    runStop: undefined,
    hasSwallowedError: false,
    onWorkDone: undefined,
    controller: undefined,
    isHandOffCounted: false,
    isBoundToInstance: runStart.isBoundToInstance ?? false,
    drainCount: runStart.previousRun?.drainCount ?? request.settings.loadMonitor.drainCount,
    workStartedAt: runStart.previousRun?.workStartedAt,
    effectsId: undefined,
    yieldedAt: 0,
  }
}

/** Returns the journal of a run, and creates it on first use. */
export function journalOf(run: Run): Journal {
  const { randomUuid, wallClock } = run.request.settings
  run.journal ??= createEmptyJournal(run.request.callId ?? randomUuid(), wallClock())
  return run.journal
}

/**
 * Returns the id from which the idempotency keys and UUIDs of a run are derived. It is cached, because answers do not
 * change during a run.
 */
export function effectsIdOf(run: Run): Awaitable<string> {
  run.effectsId ??= deriveEffectsId(journalOf(run), run.responses)
  return run.effectsId
}

/** A call of a `ctx` function. The same call in a later run has the same kind, key and text. */
interface ContextUse {
  /** The kind of the function, such as `step`. A run may use a key once for each kind. */
  readonly kind: string
  readonly functionName: string
  readonly key: string
  readonly text?: string | undefined
}

/**
 * Records a call of a `ctx` function. Throws a `HandlerError` for a misuse, and the suspension if the run is suspended.
 */
export function registerContextUse(run: Run, { kind, functionName, key, text = '' }: ContextUse): void {
  if (run.phase !== 'running') throw lateUseError(run, functionName)
  if (run.isInStep)
    throw failRun(run, 'nested', `${functionName} was used inside a step: steps do work, the handler asks`)
  try {
    checkHandlerKey(key, functionName)
  } catch (error) {
    if (error instanceof HandlerError) proposeEnd(run, { kind: 'misused', error })
    throw error
  }
  run.contextUses ??= new Map()
  const contextUseKey = `${kind} ${key}`
  if (run.contextUses.has(contextUseKey)) {
    throw failRun(
      run,
      'duplicate',
      `${functionName} was given the key "${key}" twice in one run: give each its own, such as "${key}/17"`,
    )
  }
  run.contextUses.set(contextUseKey, text)
}

/** Calls the function of a step. Any use of the context before the function's first `await` fails the call. */
export function runInStep<T>(run: Run, work: () => T): T {
  run.isInStep = true
  try {
    return work()
  } finally {
    run.isInStep = false
  }
}

/**
 * Notes the time when the first step or checkpoint of a request begins. Load shedding measures the work of a call from
 * this time.
 */
export function markWorkStarted(run: Run): void {
  if (run.workStartedAt !== undefined) return
  run.workStartedAt = run.request.settings.now()
  run.yieldedAt = run.workStartedAt
}

/** Notes that the run has just let the event loop do other work. */
export function markYielded(run: Run): void {
  run.yieldedAt = run.request.settings.now()
}

/**
 * Notes that the next run need not repeat any use of the context since the checkpoint was opened, because it continues
 * from the saved value.
 */
export function markUsesBeforeCheckpoint(run: Run, checkpointKey: string): void {
  const contextUseKeys = [...(run.contextUses?.keys() ?? [])]
  const laterUseKeys = contextUseKeys.slice(contextUseKeys.indexOf(`checkpoint ${checkpointKey}`) + 1)
  run.skippableUseKeys = new Set([...(run.skippableUseKeys ?? []), ...laterUseKeys])
}

/**
 * Returns the error for a `ctx` function that is called after the run. It is the suspension if the run is suspended,
 * and a `HandlerError` if the call has ended.
 */
export function lateUseError(run: Run, functionName: string): Error {
  if (run.phase === 'suspended') return suspensionOf(run)
  return new HandlerError(
    'ended',
    `${functionName} was used after the call had ended: await everything that the handler starts`,
  )
}

/** Fails the call with a new `HandlerError`, even if the handler catches it. Returns the error. */
export function failRun(run: Run, code: HandlerProblem, message: string): HandlerError {
  return failRunWith(run, new HandlerError(code, message))
}

/** Fails the call with a `HandlerError`, even if the handler catches it. Returns the error. */
export function failRunWith(run: Run, error: HandlerError): HandlerError {
  proposeEnd(run, { kind: 'misused', error })
  return error
}

/** Runs work and counts it as pending. The response waits for pending work, even if the run is suspended meanwhile. */
export async function trackWork<T>(run: Run, work: () => PromiseLike<T>): Promise<T> {
  run.pendingWorkCount++
  try {
    return await work()
  } finally {
    run.pendingWorkCount--
    if (run.pendingWorkCount === 0) run.onWorkDone?.()
  }
}

/**
 * Waits until an answer is parsed. The run is not suspended meanwhile, nor in the next turn of the event loop. So the
 * handler can continue with this answer and ask its next question in the same round.
 */
export async function trackAnswerParsing<T>(run: Run, parsePromise: PromiseLike<T>): Promise<T> {
  run.pendingParseCount++
  try {
    return await trackWork(run, () => parsePromise)
  } finally {
    run.pendingParseCount--
    if (isStopping(run)) scheduleSuspension(run)
  }
}

/** Returns a promise that resolves when all pending work is done. Returns undefined if no work is pending. */
export function waitForPendingWork(run: Run): Promise<void> | undefined {
  if (run.pendingWorkCount === 0) return undefined
  return new Promise((resolve) => {
    run.onWorkDone = resolve
  })
}

/**
 * Adds a question to those that the run asks. The returned promise rejects when the run is suspended, one turn of the
 * event loop later. Until then, parallel branches of the handler can ask their questions, so that all questions are
 * sent in one round.
 */
export function addQuestion(run: Run, key: string, askedQuestion: AskedQuestion): Promise<never> {
  if (run.request.settings.stateCodec === undefined && run.request.journalStore === undefined)
    throw failRun(run, 'state', stateDisabledMessage)
  if (run.end?.kind === 'asked') run.end.questions.set(key, askedQuestion)
  else proposeEnd(run, { kind: 'asked', questions: new Map([[key, askedQuestion]]) })
  return stopRun(run)
}

/** Stops the run so that the handler runs again at once, unless the run gets an end of a higher rank. */
export function restartRun(run: Run): Promise<never> {
  proposeEnd(run, { kind: 'restarted' })
  return stopRun(run)
}

/**
 * Stops the run so that the call continues at another instance. If the run asks a question meanwhile, the question is
 * sent instead, because its answer may reach another instance anyway.
 */
export function handOffRun(run: Run, reason: ShedReason): Promise<never> {
  proposeEnd(run, { kind: 'handed_off', reason })
  run.isHandOffCounted = true
  beginHandOff(run.request.settings.loadMonitor)
  return stopRun(run)
}

/**
 * Removes a run that has ended from the count of runs that are being handed off, even if the run was not handed off.
 */
export function endRunHandOff(run: Run): void {
  if (!run.isHandOffCounted) return
  run.isHandOffCounted = false
  endHandOff(run.request.settings.loadMonitor)
}

/**
 * Stops the run so that the call continues as a task. If the run asks a question meanwhile, the question is sent first,
 * and a later run makes the call a task.
 */
export function continueAsTask(run: Run): Promise<never> {
  proposeEnd(run, { kind: 'became_task' })
  return stopRun(run)
}

/**
 * Fails the call because its journal could not be stored, and suspends the run at once. Returns the suspension that
 * stops the handler.
 */
export function abandonRun(run: Run, error: unknown): Error {
  proposeEnd(run, { kind: 'store_failed', error: toInternalError(error, run.request, run.name) })
  suspendRun(run)
  return suspensionOf(run)
}

/** Suspends the run at once. From then on every `ctx` function rejects, and `ctx.signal` is aborted. */
function suspendRun(run: Run): void {
  if (run.phase !== 'running') return
  run.phase = 'suspended'
  const suspension = suspensionOf(run)
  run.runStop?.reject(suspension)
  run.controller?.abort(suspension)
}

/**
 * Ends a run whose handler has returned or thrown. The context can then no longer ask or record anything. A stopped run
 * becomes suspended, so that code that still runs receives the suspension instead of a `HandlerError`.
 */
export function endRun(run: Run): void {
  if (run.phase !== 'running') return
  proposeEnd(run, finishedEnd)
  run.hasSwallowedError = isStopping(run)
  if (run.hasSwallowedError) suspendRun(run)
  else run.phase = 'ended'
}

const finishedEnd: RunEnd = { kind: 'finished' }

/**
 * Records that the handler has ended while steps still run. From then on, the end of a step neither hands the call off
 * nor restarts the handler.
 */
export function markHandlerDone(run: Run): void {
  proposeEnd(run, finishedEnd)
}

/** Discards the open questions of a run, so that the handler's return value becomes the result of the call. */
export function dropQuestions(run: Run): void {
  if (run.end?.kind === 'asked') run.end = finishedEnd
}

/** Sets the end of the run, unless the run has an end with the same rank or a higher one. */
function proposeEnd(run: Run, end: RunEnd): void {
  if (run.end === undefined || endRanks[end.kind] > endRanks[run.end.kind]) run.end = end
}

/** Returns true if the run was stopped before its handler ended. */
export function isStopping(run: Run): boolean {
  return run.runStop !== undefined
}

/** Returns the questions that the client has to answer, or undefined if the run asks nothing. */
export function askedQuestionsOf({ end }: Run): ReadonlyMap<string, AskedQuestion> | undefined {
  return end?.kind === 'asked' ? end.questions : undefined
}

/**
 * Returns `ctx.signal`. It aborts when the call is cancelled or the run is suspended, so that no work continues after
 * the reply.
 */
export function signalOf(run: Run): AbortSignal {
  if (run.controller !== undefined) return run.controller.signal
  const controller = new AbortController()
  run.controller = controller
  const { request } = run
  const { signal } = request.call
  const forwardAbort = (): void => controller.abort(signal.reason)
  if (signal.aborted) forwardAbort()
  else if (run.phase === 'suspended') controller.abort(suspensionOf(run))
  else if (request.isOpen) {
    onAbort(signal, forwardAbort)
    request.abortListeners ??= []
    request.abortListeners.push(forwardAbort)
  }
  return controller.signal
}

/** Returns the suspension error of a run, which names the open questions. */
function suspensionOf(run: Run): Error {
  return suspensionFor([...(askedQuestionsOf(run)?.keys() ?? [])])
}

function stopRun(run: Run): Promise<never> {
  run.runStop ??= createRunStop(run)
  return run.runStop.promise
}

function createRunStop(run: Run): RunStop {
  let reject: RunStop['reject'] = () => {}
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise
  })
  // Prevents an unhandled rejection, which would end the process, when the handler does not await its question.
  promise.catch(() => {})
  scheduleSuspension(run)
  return { promise, reject }
}

function scheduleSuspension(run: Run): void {
  runAfterTick(() => {
    if (run.pendingParseCount === 0) suspendRun(run)
  })
}
