import type { ElicitRequest, ElicitRequestURLParams, InputRequest, JsonObject } from '@x/schema'
import type { InputRequiredReturn } from '../definitions/context.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import { tryCopyJson } from '../request/json-copy.ts'
import { fingerprintOf } from './call-identity.ts'
import { checkHandlerKey } from './context-uses.ts'
import { HandlerError } from './handler-error.ts'
import { formatExplicitKey } from './journal.ts'
import type { Run } from './run.ts'
import { sealState } from './seal-state.ts'
import { requireInputCapabilities } from './served-request.ts'

/** Records a run's questions in the journal, and returns the result that asks the client. */
export async function suspendCall(run: Run): Promise<JsonObject> {
  const { journal } = run
  await journal.recordPastEffects()
  const questions: SentQuestion[] = []
  for (const [key, question] of run.askedQuestions ?? []) {
    const wireKey = await journal.recordQuestion(key, question)
    questions.push({ key, wireKey, request: question.request, repeatCount: question.wireKeyCount - 1 })
  }
  journal.endExplicitRound()
  return sendQuestions(run, questions)
}

/** For a handler that returned `inputRequired`. */
export async function suspendForExplicitRound(run: Run, { requests, state }: InputRequiredReturn): Promise<JsonObject> {
  const entries = Object.entries(requests)
  if (entries.length === 0 && state === undefined) {
    throw new HandlerError('question', 'inputRequired was given neither requests nor state: give at least one of them')
  }
  for (const [key] of entries) checkHandlerKey(key, 'inputRequired')
  const stateCopy = state === undefined ? { value: undefined } : tryCopyJson(state)
  if ('reason' in stateCopy)
    throw new HandlerError('json', `The state given to inputRequired must be JSON, but ${stateCopy.reason}`)
  requireInputCapabilities(requests, run.request)
  const { journalStore, settings } = run.request
  // Without a state and a codec, no journal is sealed. The client then sends its answers without `requestState`, as in
  // a first request.
  const hasJournal = state !== undefined || settings.stateCodec !== undefined || journalStore !== undefined
  if (hasJournal) {
    await run.journal.recordPastEffects()
    run.journal.recordExplicitRound(new Map(entries.map(([key, { method }]) => [key, method])), stateCopy.value)
  }
  const questions = entries.map(([key, request]): SentQuestion => {
    const wireKey = journalStore === undefined ? key : formatExplicitKey(key, run.journal.recorded.round + 1)
    return { key, wireKey, request, repeatCount: 0 }
  })
  return sendQuestions(run, questions, hasJournal)
}

interface SentQuestion {
  readonly key: string
  readonly wireKey: string
  readonly request: InputRequest
  readonly repeatCount: number
}

async function sendQuestions(run: Run, questions: readonly SentQuestion[], hasJournal = true): Promise<JsonObject> {
  emitQuestions(run, questions)
  const requests: [string, InputRequest][] = []
  for (const { wireKey, request } of questions)
    requests.push([wireKey, isPage(request) ? await withElicitationId(request) : request])
  if (hasJournal) recordRound(run)
  return toInputRequired(run, hasJournal ? run.journal : undefined, requests)
}

function emitQuestions({ request, name }: Run, questions: readonly SentQuestion[]): void {
  const { observation, settings, call, method } = request
  if (observation === undefined) return
  for (const { key, request: asked, repeatCount } of questions) {
    observation.questionCount++
    settings.events.emit?.({ type: 'question', call, method, name, key, kind: asked.method, repeatCount })
  }
}

/** At this many rounds the author is warned. Most clients give up after ten. */
const roundCountWarningThreshold = 8

function recordRound(run: Run): void {
  const round = run.journal.recordRound()
  if (round !== roundCountWarningThreshold) return
  const problem = `has asked ${round} times in one call, and most clients stop at ten: ask several things at once`
  run.warn('rounds', problem)
}

/**
 * Gives a question with a page the `elicitationId` of 2025-11-25. 2026-07-28 has removed it, but hosts refuse a page
 * without one. A page keeps its id when it is asked for again, and nothing reads the id back
 * (docs/decisions/0043-elicitation-id).
 */
async function withElicitationId(request: PageRequest): Promise<InputRequest> {
  const { params } = request
  const paramsWithId = { elicitationId: await fingerprintOf(params.url), ...params }
  return { ...request, params: paramsWithId }
}

type PageRequest = ElicitRequest & { readonly params: ElicitRequestURLParams }

function isPage(request: InputRequest): request is PageRequest {
  return request.method === 'elicitation/create' && request.params.mode === 'url'
}

/**
 * Hands a call off: a result with nothing but `requestState`, after which the client sends the call again at once, to
 * any instance. Undefined if the journal cannot be sealed, for example because it is too large; that failure is logged.
 */
export async function handOffCall(run: Run, reason: HandOffReason): Promise<JsonObject | undefined> {
  const { loadMonitor } = run.request.settings
  // A stopping instance does not report its load.
  const journal = run.journal.toHandedOff(reason === 'stopping' ? undefined : loadMonitor.createHandOffReport())
  let result: JsonObject
  try {
    result = await toInputRequired(run, journal)
  } catch {
    return undefined
  }
  loadMonitor.countHandOff(reason)
  emitHandOff(run, reason, journal.handOffCount)
  return result
}

function emitHandOff({ request, name }: Run, reason: HandOffReason, handOffCount: number): void {
  const { method, call, settings } = request
  settings.events.emit?.({
    type: 'hand_off',
    call,
    method,
    name,
    reason,
    handOffCount,
    load: settings.loadMonitor.readLoad(),
  })
}

/** A task's journal is not sealed, because its store has it. */
async function toInputRequired(
  run: Run,
  journal: Run['journal'] | undefined,
  requests: readonly [string, InputRequest][] = [],
): Promise<JsonObject> {
  const { journalStore, catalog } = run.request
  const isSealed = journal !== undefined && journalStore === undefined
  const requestState = isSealed ? await sealState(journal, run) : undefined
  const inputRequests = Object.fromEntries(requests)
  return {
    resultType: 'input_required',
    ...(requests.length > 0 && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
    _meta: catalog.resultMeta,
  }
}
