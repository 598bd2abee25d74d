import { type JournalStore, type JsonObject, metaNames } from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import type { Scope } from '../request/scope.ts'
import { beginsAsTask, handOverToTask } from './become-task.ts'
import { identifyCall } from './call-identity.ts'
import { answerOnce } from './completed-results.ts'
import { openKept, openState, unaskedResponses } from './request-state.ts'
import { beginRun, type RunStart } from './run.ts'
import { checkCapacity, beginCall, endCall } from '../shedding/check-capacity.ts'
import type { Handler } from './finish-run.ts'
import { runFrom, startRun } from './start-run.ts'

/**
 * Runs a handler to its end, or to where it needs the client: then the result asks for that, and when the client comes
 * back, here or at another instance, the handler runs again from the top with what is known so far.
 */
export function replay<T>(handler: Handler<T>, scope: Scope): Awaitable<JsonObject> {
  // A task was admitted long ago, and would fail if it were refused now.
  if (scope.journal !== undefined) return runKept(scope.journal, handler, scope)
  const { requestState } = scope.params
  // Most calls have neither a key nor a state, and pay for none.
  if (requestState === undefined && scope.meta[metaNames.idempotencyKey] === undefined)
    return beginHandlerRun(handler, scope)
  return after(identifyCall(scope), () => {
    if (typeof requestState !== 'string')
      return answerOnce(handler, scope, { run: () => beginHandlerRun(handler, scope) })
    return comeBack(requestState, handler, scope)
  })
}

/** Runs a handler for a task, whose journal is stored. */
function runKept<T>(journal: JournalStore, handler: Handler<T>, scope: Scope): Awaitable<JsonObject> {
  const start = openKept(journal, scope, handler.name)
  beginCall(scope)
  return runFrom(start, handler, scope)
}

/**
 * Continues a call that came back. It is admitted, and counts, before its state is opened: opening costs more than rejecting, and
 * a state that opens once would be lost by a later rejection. What is kept is answered however busy the server is.
 */
async function comeBack<T>(requestState: string, handler: Handler<T>, scope: Scope): Promise<JsonObject> {
  if (scope.settings.idempotency !== undefined) {
    const start = await openState(requestState, scope, handler.name)
    const run = (): Promise<JsonObject> => {
      checkCapacity(scope)
      beginCall(scope)
      return resumeRun(start, handler, scope)
    }
    return answerOnce(handler, scope, { start, run })
  }
  checkCapacity(scope)
  beginCall(scope)
  return resumeRun(await openCounted(requestState, scope, handler.name), handler, scope)
}

async function openCounted(requestState: string, scope: Scope, name: string): Promise<RunStart> {
  try {
    return await openState(requestState, scope, name)
  } catch (error) {
    endCall(scope)
    throw error
  }
}

/** Answers that came with the first request; a handler reads them in the explicit form alone. */
function unasked(scope: Scope): RunStart | undefined {
  return scope.params.inputResponses === undefined ? undefined : { responses: unaskedResponses(scope) }
}

function beginHandlerRun<T>(handler: Handler<T>, scope: Scope): Awaitable<JsonObject> {
  checkCapacity(scope)
  if (beginsAsTask(handler.task, scope)) return handOverToTask(beginRun(scope, handler.name))
  const start = unasked(scope)
  beginCall(scope)
  return startRun(handler, scope, start)
}

function resumeRun<T>(start: RunStart, handler: Handler<T>, scope: Scope): Promise<JsonObject> {
  if (beginsAsTask(handler.task, scope)) {
    endCall(scope)
    return handOverToTask(beginRun(scope, handler.name, start))
  }
  scope.settings.loadMonitor.resumed++
  return runFrom(start, handler, scope)
}
