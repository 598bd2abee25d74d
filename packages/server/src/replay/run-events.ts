import { isCancelled, isPromiseLike } from '@x/core'
import type { RunEndKind, ServerEvents } from '@x/exchange'
import type { InputRequest, JsonObject } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { Run } from './run.ts'

/** Emits that a call continues with the journal of an earlier run. */
export function emitResume({ request, name, journal }: Run): void {
  const { observation, settings, call, method } = request
  if (observation === undefined) return
  const { round, handOffCount, startedAt, parts: recordedParts } = journal
  settings.events.emit?.({ type: 'resume', call, method, name, round, handOffCount, startedAt, recordedParts })
}

/** Emits that a state was rejected, with the code of the reason. */
export function emitStateRejected({ request, name }: Run, code: string): void {
  const { settings, call } = request
  settings.events.emit?.({ type: 'state_rejected', call, name, code })
}

/** Emits the questions that a run leaves to its client, by the keys of their authors. */
export function emitQuestions({ request, name }: Run, questions: readonly SentQuestion[]): void {
  const { observation, settings, call, method } = request
  if (observation === undefined) return
  for (const {
    key,
    request: { method: kind },
    repeatCount,
  } of questions) {
    observation.questionCount++
    settings.events.emit?.({ type: 'question', call, method, name, key, kind, repeatCount })
  }
}

/** A question as it is sent to the client. */
export interface SentQuestion {
  /** The key of its author. */
  readonly key: string
  /** The key in `inputRequests`. */
  readonly wireKey: string
  readonly request: InputRequest
  /** The number of times that the question was asked before. */
  readonly repeatCount: number
}

/** Emits that a call was handed off, which ends its run. */
export function emitHandOff(run: Run, reason: HandOffReason, handOffCount: number): void {
  const { request, name } = run
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
  emitRunEnd(run, 'handed_off')
}

/** Emits an answer that came with this request, when the handler has read it. */
export function emitAnswer(
  { request, name }: Run,
  key: string,
  { method: kind }: InputRequest,
  action: ServerEvents['answer']['action'],
): void {
  const { settings, observation, call, method } = request
  if (observation?.newAnswers.delete(key) !== true) return
  settings.events.emit?.({ type: 'answer', call, method, name, key, kind, action })
}

/** Calls the work of a step, and emits its end. */
export async function observeStep<T>({ request, name }: Run, key: string, work: () => Promise<T>): Promise<T> {
  const { observation, settings, call, method } = request
  if (observation === undefined) return work()
  const startedAt = settings.now()
  const emitEnd = (error: unknown): void => {
    observation.stepCount += 1
    const durationMs = settings.now() - startedAt
    settings.events.emit?.({ type: 'step', call, method, name, key, durationMs, error })
  }
  try {
    const value = await work()
    emitEnd(undefined)
    return value
  } catch (error) {
    emitEnd(error)
    throw error
  }
}

/** Emits the end of a run. */
function emitRunEnd({ request, name, existingJournal }: Run, end: RunEndKind, error?: unknown): void {
  const { settings, observation, call, method } = request
  if (observation === undefined) return
  settings.events.emit?.({
    type: 'run',
    call,
    method,
    name,
    end,
    round: existingJournal?.round ?? 0,
    stepCount: observation.stepCount,
    questionCount: observation.questionCount,
    handOffCount: existingJournal?.handOffCount ?? 0,
    startedAt: existingJournal?.startedAt ?? observation.startedAt,
    durationMs: settings.now() - observation.beganAt,
    error,
  })
}

/** Creates the result of a call, and emits the end of its run: `end` if that succeeds, and otherwise the failure. */
export function observeRunEnd(
  run: Run,
  end: RunEndKind,
  createResult: () => Awaitable<JsonObject>,
): Awaitable<JsonObject> {
  const succeed = (result: JsonObject): JsonObject => {
    emitRunEnd(run, end)
    return result
  }
  const fail = (error: unknown): never => {
    emitRunEnd(run, isCancelled(run.request.call) ? 'cancelled' : 'failed', error)
    throw error
  }
  let result: Awaitable<JsonObject>
  try {
    result = createResult()
  } catch (error) {
    return fail(error)
  }
  return isPromiseLike(result) ? Promise.resolve(result).then(succeed, fail) : succeed(result)
}
