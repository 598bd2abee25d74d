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

/** One run of a handler, from the top. A call that asks has several, the last of which comes to its end. */
export interface Run {
  readonly request: RequestState
  /** The tool, prompt or resource whose handler runs. */
  readonly name: string
  /** Made when it is first needed: most calls never need one. */
  journal: Journal | undefined
  /** The answers to an explicit round. */
  responses: ReadonlyMap<string, InputResponse> | undefined
  /** Every use of the context so far, as `kind key`, with what was asked, undefined while the handler did without. */
  contextUses: Map<string, string> | undefined
  /** The questions and steps that were started, undefined while there are none, as in most calls. */
  startedUses: StartedUse[] | undefined
  /** Uses that a later run need not come to, because a checkpoint begins behind them. Noted under strict replay. */
  skippableUseKeys: Set<string> | undefined
  /** The end of the run as far as it is known: of those that compete, the one with the higher {@link endRanks}. */
  end: RunEnd | undefined
  phase: 'running' | 'suspended' | 'ended'
  /** The number of steps that run and of answers that are parsed. */
  pendingWorkCount: number
  /** The number of answers among them. */
  pendingParseCount: number
  readonly isReplayStrict: boolean
  /** A step's function is on the stack. */
  isInStep: boolean
  /** Rejects what the handler waits for, undefined while nothing stops the run. */
  runStop: RunStop | undefined
  /** The handler came to its end before its suspension could reach it. */
  hasSwallowedError: boolean
  /** Called when the last pending work is done. */
  onWorkDone: (() => void) | undefined
  /** The controller of `ctx.signal`, once a handler has read it. */
  controller: AbortController | undefined
  /** True while the load monitor counts the run among those that are handed off. */
  isHandOffCounted: boolean
  /** True if the call must stay on this instance, because it could not be handed off. */
  readonly isBoundToInstance: boolean
  /** The number of stops announced when the request came. */
  readonly drainCount: number
  /** When the first step or checkpoint of this request began. */
  workStartedAt: number | undefined
  /** Names what the call does in this run. See `effectsIdOf`. */
  effectsId: Awaitable<string> | undefined
  /** When the event loop last turned for this run. */
  yieldedAt: number
}

/** The end of a run, which decides how its call continues. */
export type RunEnd =
  /** The journal could not be stored: the call fails, even if the handler catches the error. */
  | { readonly kind: 'store_failed'; readonly error: McpError }
  /** The handler misused its context: the call fails, even if the handler catches the error. */
  | { readonly kind: 'misused'; readonly error: HandlerError }
  /** The client has to answer questions before the call continues. */
  | { readonly kind: 'asked'; readonly questions: Map<string, AskedQuestion> }
  /** The handler returned or threw before anything could stop it. */
  | { readonly kind: 'finished' }
  /** The call continues as a task. */
  | { readonly kind: 'became_task' }
  /** The call continues at another instance. */
  | { readonly kind: 'handed_off'; readonly reason: ShedReason }
  /** The handler runs again at once, because every step ends a run under strict replay. */
  | { readonly kind: 'restarted' }

/**
 * The precedence of ends that compete: the higher rank wins, and the first of two of a kind. A question outranks
 * a handler that finished, because one that catches its suspension has not been answered. A handler that finished in
 * time needs no other instance.
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

/** A question on its way to the client. */
export interface AskedQuestion {
  readonly request: InputRequest
  /** The question as the author wrote it, without what is added when it is asked again. */
  readonly text: string
  readonly wireKeyCount: number
  readonly invalidAnswerCount: number
  readonly changeCount: number
}

interface RunStop {
  readonly promise: Promise<never>
  reject(error: Error): void
}

/** The start of a run of a call that has been asked before. */
export interface RunStart {
  readonly journal?: Journal | undefined
  readonly responses?: ReadonlyMap<string, InputResponse> | undefined
  readonly isReplayStrict?: boolean | undefined
  /** The run before this one for the same request. */
  readonly previousRun?: Run | undefined
  readonly isBoundToInstance?: boolean | undefined
}

/** Begins a run. Cheap, because every call of a handler is one. */
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

/** The run's journal. */
export function journalOf(run: Run): Journal {
  const { randomUuid, wallClock } = run.request.settings
  run.journal ??= createEmptyJournal(run.request.callId ?? randomUuid(), wallClock())
  return run.journal
}

/** Returns the name of what the call does in this run: the answers do not change while it runs. */
export function effectsIdOf(run: Run): Awaitable<string> {
  run.effectsId ??= deriveEffectsId(journalOf(run), run.responses)
  return run.effectsId
}

/** A use of the context: which function, for what key, and what else makes it the same in every run. */
interface ContextUse {
  /** Such as `step`. A key may be used once in each kind. */
  readonly kind: string
  readonly functionName: string
  readonly key: string
  readonly text?: string | undefined
}

/** Begins a use of the context, or throws: a misuse as a HandlerError, and once the run is suspended its suspension. */
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

/** Calls the work of a step, which must not use the context before its first await. */
export function runInStep<T>(run: Run, work: () => T): T {
  run.isInStep = true
  try {
    return work()
  } finally {
    run.isInStep = false
  }
}

/** Notes that a run begins to record: from now on it works, as far as shedding goes. */
export function markWorkStarted(run: Run): void {
  if (run.workStartedAt !== undefined) return
  run.workStartedAt = run.request.settings.now()
  run.yieldedAt = run.workStartedAt
}

/** Notes that the event loop has turned for this run. */
export function markYielded(run: Run): void {
  run.yieldedAt = run.request.settings.now()
}

/** Notes that later runs begin behind everything that this one did since it opened a checkpoint. */
export function markUsesBeforeCheckpoint(run: Run, checkpointKey: string): void {
  const contextUseKeys = [...(run.contextUses?.keys() ?? [])]
  const laterUseKeys = contextUseKeys.slice(contextUseKeys.indexOf(`checkpoint ${checkpointKey}`) + 1)
  run.skippableUseKeys = new Set([...(run.skippableUseKeys ?? []), ...laterUseKeys])
}

/** Returns the error of a use after the run: it waits for answers, or its call has ended. */
export function lateUseError(run: Run, functionName: string): Error {
  if (run.phase === 'suspended') return suspensionOf(run)
  return new HandlerError(
    'ended',
    `${functionName} was used after the call had ended: await everything that the handler starts`,
  )
}

/** Notes a misuse that fails the call, even if the handler catches the error. */
export function failRun(run: Run, code: HandlerProblem, message: string): HandlerError {
  return failRunWith(run, new HandlerError(code, message))
}

/** Fails the call with a misuse, even if the handler catches the error. */
export function failRunWith(run: Run, error: HandlerError): HandlerError {
  proposeEnd(run, { kind: 'misused', error })
  return error
}

/** Runs work that the response waits for, even when the run is suspended meanwhile. */
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
 * Parses an answer. The run is not suspended meanwhile, nor in the next turn of the event loop: the branch that has its
 * answer now may ask next, and its question belongs into the same round.
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

/** Resolves when no step runs any more, undefined when none does. */
export function waitForPendingWork(run: Run): Promise<void> | undefined {
  if (run.pendingWorkCount === 0) return undefined
  return new Promise((resolve) => {
    run.onWorkDone = resolve
  })
}

/**
 * Asks, and never resolves: the run ends one turn of the event loop later. Branches that run beside this one and need
 * nothing but what the journal has come to their own questions in that time, so that all go out in one round.
 */
export function addQuestion(run: Run, key: string, askedQuestion: AskedQuestion): Promise<never> {
  if (run.request.settings.stateCodec === undefined && run.request.journalStore === undefined)
    throw failRun(run, 'state', stateDisabledMessage)
  if (run.end?.kind === 'asked') run.end.questions.set(key, askedQuestion)
  else proposeEnd(run, { kind: 'asked', questions: new Map([[key, askedQuestion]]) })
  return stopRun(run)
}

/** Ends the run for it to begin again at once, unless something else ends it. */
export function restartRun(run: Run): Promise<never> {
  proposeEnd(run, { kind: 'restarted' })
  return stopRun(run)
}

/**
 * Ends the run for the call to continue at another instance, unless it asks something meanwhile: then the client
 * returns anyway.
 */
export function handOffRun(run: Run, reason: ShedReason): Promise<never> {
  proposeEnd(run, { kind: 'handed_off', reason })
  run.isHandOffCounted = true
  beginHandOff(run.request.settings.loadMonitor)
  return stopRun(run)
}

/** Notes that a run which was to be handed off has come to its end, whichever that is. */
export function endRunHandOff(run: Run): void {
  if (!run.isHandOffCounted) return
  run.isHandOffCounted = false
  endHandOff(run.request.settings.loadMonitor)
}

/** Ends the run for the call to continue as a task, unless it asks something meanwhile: then it becomes one later. */
export function continueAsTask(run: Run): Promise<never> {
  proposeEnd(run, { kind: 'became_task' })
  return stopRun(run)
}

/**
 * Ends the run now, because nothing may be done for the call any more. Returns the error that stops the handler.
 */
export function abandonRun(run: Run, error: unknown): Error {
  proposeEnd(run, { kind: 'store_failed', error: toInternalError(error, run.request, run.name) })
  suspendRun(run)
  return suspensionOf(run)
}

/** Suspends the run now: every `ctx` function rejects from here on, and `ctx.signal` is aborted. */
function suspendRun(run: Run): void {
  if (run.phase !== 'running') return
  run.phase = 'suspended'
  const suspension = suspensionOf(run)
  run.runStop?.reject(suspension)
  run.controller?.abort(suspension)
}

/**
 * The handler has come to its end: nothing may be asked or recorded for it any more. A run that is stopped stays
 * suspended, so that code which still runs does not take that for a failure.
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
 * Records that the handler has ended while steps still run. From then on the end of a step neither hands the call off
 * nor restarts it.
 */
export function markHandlerDone(run: Run): void {
  proposeEnd(run, finishedEnd)
}

/** Lets the handler's return value count, although a question has no answer: another one's refusal was handled. */
export function dropQuestions(run: Run): void {
  if (run.end?.kind === 'asked') run.end = finishedEnd
}

/** Ends the run in this way, unless it has an end of the same rank or a higher one. */
function proposeEnd(run: Run, end: RunEnd): void {
  if (run.end === undefined || endRanks[end.kind] > endRanks[run.end.kind]) run.end = end
}

/** Returns true once something stops the run before its handler has come to its end. */
export function isStopping(run: Run): boolean {
  return run.runStop !== undefined
}

/** Returns the questions that the client has to answer, undefined when the run asks nothing. */
export function askedQuestionsOf({ end }: Run): ReadonlyMap<string, AskedQuestion> | undefined {
  return end?.kind === 'asked' ? end.questions : undefined
}

/** Aborts when the call is cancelled, or when the run is suspended: no work continues after the reply. */
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

/** The suspension of a run. */
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
  // A handler that asks and does not wait must not bring the process down.
  promise.catch(() => {})
  scheduleSuspension(run)
  return { promise, reject }
}

function scheduleSuspension(run: Run): void {
  runAfterTick(() => {
    if (run.pendingParseCount === 0) suspendRun(run)
  })
}
