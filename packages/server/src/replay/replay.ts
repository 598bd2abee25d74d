import { type JournalStore, type JsonObject, projectMetaKeys } from '@x/schema'
import { mapAwaitable, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import type { RequestState } from './served-request.ts'
import { beginRun, type RunStart } from './run.ts'
import { identifyCall } from './call-identity.ts'
import { answerOnce } from './completed-results.ts'
import { openStoredCall, openState, firstResponsesOf } from './seal-state.ts'
import { checkCapacity, beginCall, countResumedCall, endCall } from '../shedding/load-monitor.ts'
import { type Handler, runHandlerOnce, finishRun } from './finish-run.ts'
import { openContext } from './open-context.ts'
import { handOverToTask, shouldBeginAsTask } from './become-task.ts'
import { runWithStrictReplay } from './strict-replay.ts'

/**
 * Runs a handler until it ends or has to ask the client. When it asks, the result contains the questions. When the
 * client answers, to this or another instance, the handler runs again from its beginning with all answers so far.
 */
export function replayCall<T>(handler: Handler<T>, request: RequestState): Awaitable<JsonObject> {
  // Capacity is not checked for a task. The task was admitted when it was created, and a refusal now would make it
  // fail.
  if (request.journalStore !== undefined) return runStoredCall(request.journalStore, handler, request)
  const { requestState } = request.params
  // Most calls have neither an idempotency key nor a state, and skip the work for both.
  if (requestState === undefined && request.meta[projectMetaKeys.idempotencyKey] === undefined)
    return beginHandlerRun(handler, request)
  return mapAwaitable(identifyCall(request), () => {
    if (typeof requestState !== 'string')
      return answerOnce(handler, request, { run: () => beginHandlerRun(handler, request) })
    return resumeCall(requestState, handler, request)
  })
}

/** Runs a handler for a task, with the journal from the task's store. */
function runStoredCall<T>(
  journalStore: JournalStore,
  handler: Handler<T>,
  request: RequestState,
): Awaitable<JsonObject> {
  const runStart = openStoredCall(journalStore, request, handler.name)
  beginCall(request)
  return runHandlerFrom(runStart, handler, request)
}

/**
 * Continues a call that its client sent again with `requestState`. Capacity is checked before the state is opened.
 * Opening costs more than rejecting, and a state that can be opened only once would be lost by a later rejection. If
 * results are stored, the state is opened first, so that a busy server still returns a stored result.
 */
async function resumeCall<T>(requestState: string, handler: Handler<T>, request: RequestState): Promise<JsonObject> {
  if (request.settings.idempotency !== undefined) {
    const runStart = await openState(requestState, request, handler.name)
    const run = (): Promise<JsonObject> => {
      checkCapacity(request)
      beginCall(request)
      return resumeRun(runStart, handler, request)
    }
    return answerOnce(handler, request, { runStart, run })
  }
  checkCapacity(request)
  beginCall(request)
  return resumeRun(await openStateOrEndCall(requestState, request, handler.name), handler, request)
}

async function openStateOrEndCall(requestState: string, request: RequestState, name: string): Promise<RunStart> {
  try {
    return await openState(requestState, request, name)
  } catch (error) {
    endCall(request)
    throw error
  }
}

/** Returns the answers that came with the first request. A handler can read them only in `ctx.responses`. */
function createFirstRunStart(request: RequestState): RunStart | undefined {
  return request.params.inputResponses === undefined ? undefined : { responses: firstResponsesOf(request) }
}

function beginHandlerRun<T>(handler: Handler<T>, request: RequestState): Awaitable<JsonObject> {
  checkCapacity(request)
  if (shouldBeginAsTask(handler.task, request)) return handOverToTask(beginRun(request, handler.name))
  const runStart = createFirstRunStart(request)
  beginCall(request)
  return startRun(handler, request, runStart)
}

function resumeRun<T>(runStart: RunStart, handler: Handler<T>, request: RequestState): Promise<JsonObject> {
  if (shouldBeginAsTask(handler.task, request)) {
    endCall(request)
    return handOverToTask(beginRun(request, handler.name, runStart))
  }
  countResumedCall(request.settings.loadMonitor)
  return runHandlerFrom(runStart, handler, request)
}

/**
 * Runs a handler for the first time. `beginCall` must have been called for the request. For a handler that asks
 * nothing, this costs little more than calling the handler.
 */
function startRun<T>(handler: Handler<T>, request: RequestState, runStart?: RunStart): Awaitable<JsonObject> {
  if (request.settings.strictReplay) return runWithStrictReplay(runStart ?? {}, handler, request)
  const run = beginRun(request, handler.name, runStart)
  let handlerReturn: ReturnType<Handler<T>['run']>
  try {
    handlerReturn = handler.run(openContext(run))
  } catch (thrown) {
    return finishRun(run, { thrown }, handler)
  }
  if (!isPromiseLike(handlerReturn)) return finishRun(run, { returned: handlerReturn }, handler)
  return Promise.resolve(handlerReturn).then(
    (value) => finishRun(run, { returned: value }, handler),
    (thrown: unknown) => finishRun(run, { thrown }, handler),
  )
}

/**
 * Runs a handler again from its beginning, with the journal and answers in `runStart`. `beginCall` must have been
 * called for the request.
 */
async function runHandlerFrom<T>(runStart: RunStart, handler: Handler<T>, request: RequestState): Promise<JsonObject> {
  if (request.settings.strictReplay) return runWithStrictReplay(runStart, handler, request)
  const run = beginRun(request, handler.name, runStart)
  return finishRun(run, await runHandlerOnce(handler, run), handler)
}
