import { type JsonObject, projectMetaKeys } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import { checkCapacity, beginCall, countResumedCall, endCall } from '../shedding/load-monitor.ts'
import { beginAsTask, shouldBeginAsTask } from './become-task.ts'
import type { Handler } from './handler.ts'
import { answerOnce, assignCallId, mayStoreResult } from './idempotent-calls.ts'
import { Run } from './run.ts'
import { emitResume } from './run-events.ts'
import { completeCall, runHandler } from './run-handler.ts'
import { openFirstJournal, openState, openStoredJournal } from './seal-state.ts'
import type { ServedRequest } from './served-request.ts'
import { runStrictly } from './strict-replay.ts'

/**
 * Runs a handler until it ends or has to ask the client. When it asks, the result contains the questions. When the
 * client answers, to this or another instance, the handler runs again from its beginning with all answers so far.
 *
 * A call is opened here: its caller is admitted, and its journal read. Then the handler runs, its run is settled, and
 * the result of the call is made of its end, in `run-handler.ts`.
 */
export function replayCall<T>(handler: Handler<T>, request: ServedRequest): Awaitable<JsonObject> {
  const run = new Run(request, handler.name)
  if (request.journalStore !== undefined) {
    run.continueFrom(openStoredJournal(request.journalStore, run))
    return continueTask(handler, run)
  }
  // Most calls have neither an idempotency key nor a state, and skip the work for both.
  const isNew = request.params['requestState'] === undefined
  return isNew && request.meta[projectMetaKeys.idempotencyKey] === undefined
    ? startCall(handler, run)
    : findCall(handler, run)
}

/** Finds out which call a client repeats or continues. */
async function findCall<T>(handler: Handler<T>, run: Run): Promise<JsonObject> {
  const { requestState } = run.request.params
  if (run.request.meta[projectMetaKeys.idempotencyKey] !== undefined) await assignCallId(run.request)
  return typeof requestState === 'string'
    ? resumeCall(requestState, handler, run)
    : answerOnce(handler, run, () => startCall(handler, run))
}

/** Starts a call. For a handler that asks nothing, this costs little more than calling the handler. */
function startCall<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  checkCapacity(request)
  if (handler.task !== undefined && shouldBeginAsTask(handler.task, request)) return beginAsTask(run)
  if (request.params['inputResponses'] !== undefined) run.continueFrom(openFirstJournal(request))
  beginCall(request)
  return runOrRepeat(handler, run)
}

/**
 * Resumes a call that its client sent again with `requestState`. Capacity is checked before the state is opened.
 * Opening costs more than rejecting, and a state that opens once would be lost by a later rejection. If the result of
 * the call may be stored, any other state is opened first, so that a busy server still returns a stored result.
 */
async function resumeCall<T>(requestState: string, handler: Handler<T>, run: Run): Promise<JsonObject> {
  const { request } = run
  const { idempotency, stateCodec } = request.settings
  if (idempotency !== undefined && mayStoreResult(handler, run)) {
    const opensOnce = stateCodec?.opensOnce === true
    if (opensOnce) checkCapacity(request)
    run.continueFrom(await openState(requestState, run))
    return answerOnce(handler, run, () => {
      if (!opensOnce) checkCapacity(request)
      beginCall(request)
      return runResumed(handler, run)
    })
  }
  checkCapacity(request)
  beginCall(request)
  const journal = await openState(requestState, run).catch((error: unknown) => {
    endCall(request)
    throw error
  })
  run.continueFrom(journal)
  return runResumed(handler, run)
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

/**
 * Runs the handler of a task, with the journal from the task's store. Capacity is not checked. The task was admitted
 * when it was created, and a refusal now would make it fail.
 */
function continueTask<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  if (request.observation !== undefined) emitResume(run)
  beginCall(request)
  return runOrRepeat(handler, run)
}

/** Runs a handler once, or in strict replay as often as it takes to find code that is not repeatable. */
function runOrRepeat<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  if (!run.request.settings.strictReplay) return runHandler(handler, run)
  return runStrictly(handler, run).then((last) => completeCall(last.run, last.outcome, handler))
}
