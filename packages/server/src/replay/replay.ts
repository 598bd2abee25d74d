import { type JsonObject, projectMetaKeys } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { checkCapacity, beginCall, countResumedCall, endCall } from '../shedding/load-monitor.ts'
import { beginAsTask, shouldBeginAsTask } from './become-task.ts'
import { assignCallId } from './call-identity.ts'
import { answerOnce, mayStoreResult } from './completed-results.ts'
import { type Handler, Run } from './run.ts'
import { emitResume } from './run-events.ts'
import { runHandler } from './run-handler.ts'
import { openFirstJournal, openState, openStoredJournal } from './seal-state.ts'
import type { ServedRequest } from './served-request.ts'
import { runStrictly } from './strict-replay.ts'

/**
 * Runs a handler until it ends or has to ask the client. When it asks, the result contains the questions. When the
 * client answers, to this or another instance, the handler runs again from its beginning with all answers so far.
 */
export function replayCall<T>(handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  if (request.journalStore !== undefined) {
    return runFromStore(
      handler,
      new Run(request, handler.name, openStoredJournal(request.journalStore, request, handler.name)),
    )
  }
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
    return beginAsTask(new Run(request, handler.name))
  const journal = request.params.inputResponses === undefined ? undefined : openFirstJournal(request)
  beginCall(request)
  return runOrRepeat(handler, new Run(request, handler.name, journal))
}

/**
 * Resumes a call that its client sent again with `requestState`. Capacity is checked before the state is opened.
 * Opening costs more than rejecting, and a state that opens once would be lost by a later rejection. If the result of
 * the call may be stored, any other state is opened first, so that a busy server still returns a stored result.
 */
async function resumeCall<T>(requestState: string, handler: Handler<T>, request: ServedRequest): Promise<JsonObject> {
  if (request.settings.idempotency !== undefined && mayStoreResult(handler, request)) {
    const opensOnce = request.settings.stateCodec?.opensOnce === true
    if (opensOnce) checkCapacity(request)
    const journal = await openState(requestState, request, handler.name)
    return answerOnce(handler, request, journal, () => {
      if (!opensOnce) checkCapacity(request)
      beginCall(request)
      return runResumed(handler, new Run(request, handler.name, journal))
    })
  }
  checkCapacity(request)
  beginCall(request)
  const journal = await openState(requestState, request, handler.name).catch((error: unknown) => {
    endCall(request)
    throw error
  })
  return runResumed(handler, new Run(request, handler.name, journal))
}

/** Runs the handler of a resumed call, or makes the call a task. `beginCall` was called for the request. */
function runResumed<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  if (request.observation !== undefined) emitResume(run)
  if (handler.task !== undefined && shouldBeginAsTask(handler.task, request)) {
    endCall(request)
    return beginAsTask(run)
  }
  countResumedCall(request.settings.loadMonitor)
  return runOrRepeat(handler, run)
}

/** Runs a handler once, or in strict replay as often as it takes to find code that is not repeatable. */
function runOrRepeat<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  return run.request.settings.strictReplay ? runStrictly(handler, run) : runHandler(handler, run)
}

/**
 * Runs the handler of a task, with the journal from the task's store. Capacity is not checked. The task was admitted
 * when it was created, and a refusal now would make it fail.
 */
function runFromStore<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  if (request.observation !== undefined) emitResume(run)
  beginCall(request)
  return runOrRepeat(handler, run)
}
