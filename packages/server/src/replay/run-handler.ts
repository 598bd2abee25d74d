import type { JsonObject } from '@x/schema'
import { mapAwaitable, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { beginCall, endCall } from '../shedding/load-monitor.ts'
import { applyRunEnd } from './apply-run-end.ts'
import { openContext } from './open-context.ts'
import { type Handler, Run, type RunOutcome } from './run.ts'
import { finishStartedUses } from './started-uses.ts'
import { runStrictly } from './strict-replay.ts'

/**
 * Runs a handler from its beginning, and returns the result of the call. `beginCall` was called for the request. Strict
 * replay repeats the run.
 */
export function runHandler<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  if (!run.request.settings.strictReplay) return runOnce(handler, run)
  return runStrictly(handler, run).then(([lastRun, outcome]) => endRun(lastRun, outcome, handler))
}

function runOnce<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  let handlerReturn: ReturnType<Handler<T>['run']>
  try {
    handlerReturn = handler.run(openContext(run))
  } catch (thrown) {
    return endRun(run, { thrown }, handler)
  }
  if (!isPromiseLike(handlerReturn)) return endRun(run, { returned: handlerReturn }, handler)
  return Promise.resolve(handlerReturn).then(
    (returned) => endRun(run, { returned }, handler),
    (thrown: unknown) => endRun(run, { thrown }, handler),
  )
}

/**
 * Finishes a run whose handler has returned or thrown, and returns the result of the call. The outcome alone is not
 * enough, because it does not show whether the handler asked a question.
 */
function endRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  // Most handlers start neither a question nor a step.
  if (run.startedUses === undefined) return resultOfEndedRun(run, outcome, handler)
  return mapAwaitable(finishStartedUses(run, outcome), () => resultOfEndedRun(run, outcome, handler))
}

function resultOfEndedRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  run.markEnded()
  endCall(run.request)
  // The steps of a stopped run are awaited, so that their results are recorded. Otherwise a later run would repeat
  // them.
  return run.wasStopped && run.end?.kind !== 'finished' && run.end?.kind !== 'store_failed'
    ? mapAwaitable(run.waitForWork(), () => applyEnd(run, outcome, handler))
    : applyEnd(run, outcome, handler)
}

function applyEnd<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  return applyRunEnd(run, outcome, { toResult: handler.toResult, runOnInstance: () => runOnInstance(run, handler) })
}

/**
 * Runs a handler again on this instance, because its call could not be handed off. Load shedding must not fail a call.
 */
function runOnInstance<T>({ request, name, journal }: Run, handler: Handler<T>): Awaitable<JsonObject> {
  request.work?.bindToInstance()
  beginCall(request)
  return runOnce(handler, new Run(request, name, journal.forNextRun()))
}
