import { type JournalStore, type JsonObject, projectMetaKeys } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { checkCapacity, beginCall, countResumedCall, endCall } from '../shedding/load-monitor.ts'
import { createTask, shouldBeginAsTask } from './become-task.ts'
import { assignCallId } from './call-identity.ts'
import { answerOnce } from './completed-results.ts'
import { type Handler, Run } from './run.ts'
import { emitResume } from './run-events.ts'
import { runHandler } from './run-handler.ts'
import { RunJournal } from './run-journal.ts'
import { firstResponsesOf, openState, openStoredJournal } from './seal-state.ts'
import type { ServedRequest } from './served-request.ts'

/**
 * Runs a handler until it ends or has to ask the client. When it asks, the result contains the questions. When the
 * client answers, to this or another instance, the handler runs again from its beginning with all answers so far.
 */
export function replayCall<T>(handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  if (request.journalStore !== undefined) return runFromStore(request.journalStore, handler, request)
  const { requestState } = request.params
  // Most calls have neither an idempotency key nor a state, and skip the work for both.
  if (requestState === undefined && request.meta[projectMetaKeys.idempotencyKey] === undefined)
    return startCall(handler, request)
  return mapAwaitable(assignCallId(request), () =>
    typeof requestState === 'string'
      ? resumeCall(requestState, handler, request)
      : answerOnce(handler, request, undefined, () => startCall(handler, request)),
  )
}

/** Starts a call. For a handler that asks nothing, this costs little more than calling the handler. */
function startCall<T>(handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  checkCapacity(request)
  if (handler.task !== undefined && shouldBeginAsTask(handler.task, request))
    return createTask(new Run(request, handler.name))
  // A handler can read answers that came with the first request only in `ctx.responses`.
  const hasResponses = request.params.inputResponses !== undefined
  const journal = hasResponses ? new RunJournal(request, undefined, firstResponsesOf(request)) : undefined
  beginCall(request)
  return runHandler(handler, new Run(request, handler.name, journal))
}

/**
 * Resumes a call that its client sent again with `requestState`. Capacity is checked before the state is opened.
 * Opening costs more than rejecting, and a state that can be opened only once would be lost by a later rejection. If
 * results are stored, the state is opened first, so that a busy server still returns a stored result.
 */
async function resumeCall<T>(requestState: string, handler: Handler<T>, request: ServedRequest): Promise<JsonObject> {
  if (request.settings.idempotency !== undefined) {
    const journal = await openState(requestState, request, handler.name)
    return answerOnce(handler, request, journal, () => {
      checkCapacity(request)
      beginCall(request)
      return runResumed(journal, handler, request)
    })
  }
  checkCapacity(request)
  beginCall(request)
  let journal: RunJournal
  try {
    journal = await openState(requestState, request, handler.name)
  } catch (error) {
    endCall(request)
    throw error
  }
  return runResumed(journal, handler, request)
}

/** Runs the handler of a resumed call, or makes the call a task. `beginCall` was called for the request. */
function runResumed<T>(journal: RunJournal, handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  if (request.observation !== undefined) emitResume(journal, request, handler.name)
  const run = new Run(request, handler.name, journal)
  if (handler.task !== undefined && shouldBeginAsTask(handler.task, request)) {
    endCall(request)
    return createTask(run)
  }
  countResumedCall(request.settings.loadMonitor)
  return runHandler(handler, run)
}

/**
 * Runs the handler of a task, with the journal from the task's store. Capacity is not checked. The task was admitted
 * when it was created, and a refusal now would make it fail.
 */
function runFromStore<T>(store: JournalStore, handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  const journal = openStoredJournal(store, request, handler.name)
  if (request.observation !== undefined) emitResume(journal, request, handler.name)
  beginCall(request)
  return runHandler(handler, new Run(request, handler.name, journal))
}
