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
 * Runs a handler to its end, or to where it needs the client: then the result asks for that. When the client answers,
 * here or at another instance, the handler runs again from the top with the answers so far.
 */
export function replayCall<T>(handler: Handler<T>, request: RequestState): Awaitable<JsonObject> {
  // A task was admitted long ago, and would fail if it were refused now.
  if (request.journalStore !== undefined) return runStoredCall(request.journalStore, handler, request)
  const { requestState } = request.params
  // Most calls have neither a key nor a state, and pay for none.
  if (requestState === undefined && request.meta[projectMetaKeys.idempotencyKey] === undefined)
    return beginHandlerRun(handler, request)
  return mapAwaitable(identifyCall(request), () => {
    if (typeof requestState !== 'string')
      return answerOnce(handler, request, { run: () => beginHandlerRun(handler, request) })
    return resumeCall(requestState, handler, request)
  })
}

/** Runs a handler for a task, whose journal is stored. */
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
 * Continues a call that its client sent again. It is admitted, and counts, before its state is opened: opening costs
 * more than rejecting, and a state that opens once would be lost by a later rejection. A stored result is returned
 * however busy the server is.
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

/** Answers that came with the first request. A handler reads them in the explicit form alone. */
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

/** Runs a handler for the first time, once its call was counted. One that asks nothing is called, and that is all. */
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

/** Runs a handler again from the top, with what is known so far, once its call was counted. */
async function runHandlerFrom<T>(runStart: RunStart, handler: Handler<T>, request: RequestState): Promise<JsonObject> {
  if (request.settings.strictReplay) return runWithStrictReplay(runStart, handler, request)
  const run = beginRun(request, handler.name, runStart)
  return finishRun(run, await runHandlerOnce(handler, run), handler)
}
