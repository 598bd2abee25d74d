import { type JsonObject, metaNames } from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import type { Scope } from '../request/scope.ts'
import { beginsAsTask, handOverToTask } from './become-task.ts'
import { identifyCall } from './call-identity.ts'
import { answerOnce } from './completed-results.ts'
import { openKept, openState, unaskedResponses } from './request-state.ts'
import { beginRun, type RunStart } from './run.ts'
import { admitCall } from '../shedding/admit-call.ts'
import type { Handler } from './settle.ts'
import { runFrom, startRun } from './start-run.ts'

/**
 * Runs a handler to its end, or to where it needs the client: then the result asks for that, and when the client comes
 * back, here or at another instance, the handler runs again from the top with what is known so far.
 */
export function replay<T>(handler: Handler<T>, scope: Scope): Awaitable<JsonObject> {
  // A task was admitted long ago, and would fail if it were refused now.
  if (scope.journal !== undefined) return runFrom(openKept(scope.journal, scope, handler.name), handler, scope)
  const { requestState } = scope.params
  // Most calls have neither a key nor a state, and pay for none.
  if (requestState === undefined && scope.meta[metaNames.idempotencyKey] === undefined)
    return beginHandlerRun(handler, scope)
  return after(identifyCall(scope), () => {
    if (typeof requestState !== 'string')
      return answerOnce(handler, scope, { run: () => beginHandlerRun(handler, scope) })
    // Opening costs more than rejecting; but what is kept is answered however busy the server is.
    if (scope.settings.idempotency === undefined) admitCall(scope.settings.loadMonitor, true)
    return openState(requestState, scope, handler.name).then((start) =>
      answerOnce(handler, scope, { start, run: () => resumeRun(start, handler, scope) }),
    )
  })
}

/** Answers that came with the first request; a handler reads them in the explicit form alone. */
function unasked(scope: Scope): RunStart | undefined {
  return scope.params.inputResponses === undefined ? undefined : { responses: unaskedResponses(scope) }
}

function beginHandlerRun<T>(handler: Handler<T>, scope: Scope): Awaitable<JsonObject> {
  admitCall(scope.settings.loadMonitor, false)
  return beginsAsTask(handler.task, scope)
    ? handOverToTask(beginRun(scope, handler.name))
    : startRun(handler, scope, unasked(scope))
}

function resumeRun<T>(start: RunStart, handler: Handler<T>, scope: Scope): Promise<JsonObject> {
  const { loadMonitor, idempotency } = scope.settings
  if (idempotency !== undefined) admitCall(loadMonitor, true)
  if (beginsAsTask(handler.task, scope)) return handOverToTask(beginRun(scope, handler.name, start))
  loadMonitor.resumed++
  return runFrom(start, handler, scope)
}
