import type { JsonObject } from '@x/schema'
import { isInputRequired } from '../definitions/context.ts'
import { mapAwaitable, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { beginCall, endCall } from '../shedding/load-monitor.ts'
import { handOverToTask } from './become-task.ts'
import { openContext } from './open-context.ts'
import { type Handler, Run, type RunOutcome } from './run.ts'
import { shedCall } from './shed-call.ts'
import { finishStartedUses } from './started-uses.ts'
import { runStrictly } from './strict-replay.ts'
import { suspendCall, suspendForExplicitRound } from './suspend-call.ts'
import { warnSwallowedError } from './warnings.ts'

/**
 * Runs a handler from its beginning, and returns the result of the call. `beginCall` was called for the request. Strict
 * replay repeats the run.
 */
export function runHandler<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  if (!run.request.settings.strictReplay) return runOnce(handler, run)
  return runStrictly(handler, run).then(([lastRun, outcome]) => finishRun(lastRun, outcome, handler))
}

function runOnce<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  let handlerReturn: ReturnType<Handler<T>['run']>
  try {
    handlerReturn = handler.run(openContext(run))
  } catch (thrown) {
    return finishRun(run, { thrown }, handler)
  }
  if (!isPromiseLike(handlerReturn)) return finishRun(run, { returned: handlerReturn }, handler)
  return Promise.resolve(handlerReturn).then(
    (returned) => finishRun(run, { returned }, handler),
    (thrown: unknown) => finishRun(run, { thrown }, handler),
  )
}

/**
 * Finishes a run whose handler has returned or thrown, and returns the result of the call. The outcome alone is not
 * enough, because it does not show whether the handler asked a question.
 */
function finishRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  // Most handlers start neither a question nor a step.
  if (run.startedUses === undefined) return endRun(run, outcome, handler)
  return mapAwaitable(finishStartedUses(run, outcome), () => endRun(run, outcome, handler))
}

function endRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  run.finish()
  endCall(run.request)
  // The steps of a stopped run are awaited, so that their results are recorded. Otherwise a later run would repeat
  // them.
  return run.wasStopped && run.end?.kind !== 'finished' && run.end?.kind !== 'store_failed'
    ? mapAwaitable(run.waitForWork(), () => applyRunEnd(run, outcome, handler))
    : applyRunEnd(run, outcome, handler)
}

/** Returns the result of the call for the end of its run. Throws if the call has failed. */
function applyRunEnd<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  const { end } = run
  switch (end?.kind) {
    case 'store_failed':
    case 'misused':
      throw end.error
    case 'asked':
      warnSwallowedError(run, outcome)
      return suspendCall(run)
    case 'became_task':
      warnSwallowedError(run, outcome)
      return handOverToTask(run)
    case 'handed_off':
      warnSwallowedError(run, outcome)
      return mapAwaitable(shedCall(run, end.reason), (result) => result ?? runOnInstance(run, handler))
    default:
      if ('thrown' in outcome) throw outcome.thrown
      return isInputRequired(outcome.returned)
        ? suspendForExplicitRound(run, outcome.returned)
        : handler.toResult(outcome.returned)
  }
}

/**
 * Runs a handler again on this instance, because its call could not be handed off. Load shedding must not fail a call.
 */
function runOnInstance<T>({ request, name, journal }: Run, handler: Handler<T>): Awaitable<JsonObject> {
  request.work?.bindToInstance()
  beginCall(request)
  return runOnce(handler, new Run(request, name, journal.forNextRun()))
}
