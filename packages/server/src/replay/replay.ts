import { type JsonObject, projectMetaKeys } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import { shouldBeginAsTask } from './become-task.ts'
import type { Handler } from './handler.ts'
import { answerOnce, identifyCall } from './idempotent-calls.ts'
import { Run } from './run.ts'
import { continueCall, runCall } from './run-handler.ts'
import { openFirstJournal, openState, openStoredJournal } from './seal-state.ts'
import type { ServedRequest } from './served-request.ts'

/**
 * Runs a handler until it ends or must ask the client; then the result contains the questions. When the answers come
 * back, here or at another instance, the handler runs again from its beginning with all answers so far.
 *
 * This file opens a call: it admits the caller and finds the journal of earlier runs. `run-handler.ts` then runs the
 * handler, settles the run, and turns its end into the result.
 */
export function replayCall<T>(handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  return openCall(handler, new Run(request, handler.name))
}

function openCall<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { journalStore, params, meta, settings } = run.request
  if (journalStore !== undefined) {
    run.continueFrom(openStoredJournal(journalStore, run))
    // No check of capacity: the task was admitted when it was created, and a refusal now would make it fail.
    settings.loadMonitor.beginCall(run.request)
    return continueCall(handler, run)
  }
  const mayBeKnown = params['requestState'] !== undefined || meta[projectMetaKeys.idempotencyKey] !== undefined
  // Most calls have neither an idempotency key nor a state, and skip the work for both.
  if (!mayBeKnown) return startCall(handler, run)
  return findCall(handler, run)
}

/** Fast path: a handler that asks nothing costs little more than calling it. */
function startCall<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  const { loadMonitor } = request.settings
  loadMonitor.checkCapacity(request)
  // A task reads the answers of its first request when it begins.
  if (request.params['inputResponses'] !== undefined && !shouldBeginAsTask(handler.task, request))
    run.continueFrom(openFirstJournal(request))
  loadMonitor.beginCall(request)
  return runCall(handler, run)
}

async function findCall<T>(handler: Handler<T>, run: Run): Promise<JsonObject> {
  const resultStore = await identifyCall(handler, run.request)
  const begin =
    run.request.params['requestState'] === undefined
      ? (): Awaitable<JsonObject> => startCall(handler, run)
      : await resumeCall(handler, run, resultStore !== undefined)
  return resultStore === undefined ? begin() : answerOnce(resultStore, run, begin)
}

/**
 * Reopens a call that its client sent again with `requestState`, and returns the function that continues it.
 *
 * Capacity comes before the state: opening costs more than rejecting, and a state that opens only once would be lost by
 * a later rejection. If the call's result may be stored, any other state is opened first, so that a busy server still
 * returns a stored result.
 */
async function resumeCall<T>(
  handler: Handler<T>,
  run: Run,
  isResultStored: boolean,
): Promise<() => Awaitable<JsonObject>> {
  const { request } = run
  const { loadMonitor, stateCodec } = request.settings
  const isCheckedFirst = !isResultStored || stateCodec?.opensOnce === true
  if (isCheckedFirst) loadMonitor.checkCapacity(request)
  if (!isResultStored) loadMonitor.beginCall(request)
  const journal = await openState(run).catch((error: unknown) => {
    if (!isResultStored) loadMonitor.endCall(request)
    throw error
  })
  run.continueFrom(journal)
  return () => {
    if (!isCheckedFirst) loadMonitor.checkCapacity(request)
    if (isResultStored) loadMonitor.beginCall(request)
    return continueCall(handler, run)
  }
}
