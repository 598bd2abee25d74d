import type { JsonObject, RunEndKind } from '@x/schema'
import { mapAwaitable, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { beginCall, endCall } from '../shedding/load-monitor.ts'
import { isInputRequired } from '../definitions/context.ts'
import { applyRunEnd } from './apply-run-end.ts'
import { openContext } from './open-context.ts'
import { type Handler, Run, type RunOutcome } from './run.ts'
import { observeRunEnd } from './run-events.ts'
import { finishStartedUses } from './started-uses.ts'
import { runStrictly } from './strict-replay.ts'
import { suspendForExplicitRound } from './suspend-call.ts'

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
 * Ends a run whose handler has returned or thrown, and returns the result of the call. The outcome alone is not enough,
 * because it does not show whether the handler asked a question.
 */
function endRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  // Most handlers start neither a question nor a step.
  if (run.startedUses === undefined) return completeRun(run, outcome, handler)
  return mapAwaitable(finishStartedUses(run, outcome), () => completeRun(run, outcome, handler))
}

/**
 * Closes the context of a run, and returns the result of the call. The steps that still run are awaited, so that their
 * results are recorded and a later run does not repeat them. A journal that could not be stored records nothing more.
 */
function completeRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  run.close()
  endCall(run.request)
  const pendingWork = run.end?.kind === 'store_failed' ? undefined : run.waitForWork()
  return mapAwaitable(pendingWork, () => {
    // A step that ran until now may have changed the end. A call that cannot be handed off runs again, and that run emits
    // its end. A hand-off emits its end itself.
    const isObserved = run.request.observation !== undefined && run.end?.kind !== 'handed_off'
    return isObserved
      ? observeRunEnd(run, endKindOf(run, outcome), () => createResult(run, outcome, handler))
      : createResult(run, outcome, handler)
  })
}

/**
 * Returns the kind with which the end of a run is emitted once its result is created. Returns undefined for a task, which
 * emits its end itself. A call that fails has no result, so it is emitted as failed
 * instead.
 */
function endKindOf({ end }: Run, outcome: RunOutcome<unknown>): RunEndKind | undefined {
  if (end?.kind === 'became_task') return undefined
  const isAsking = end?.kind === 'asked' || ('returned' in outcome && isInputRequired(outcome.returned))
  return isAsking ? 'asked' : 'finished'
}

/** Returns the result of the call for the end of its run. Throws if the call has failed. */
function createResult<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  if (run.end?.kind !== 'finished') return applyRunEnd(run, outcome, () => runOnInstance(run, handler))
  if ('thrown' in outcome) throw outcome.thrown
  return isInputRequired(outcome.returned)
    ? suspendForExplicitRound(run, outcome.returned)
    : handler.toResult(outcome.returned)
}

/**
 * Runs a handler again on this instance, because its call could not be handed off. Load shedding must not fail a call.
 * The run is not strict, because only strict replay can restart a run.
 */
function runOnInstance<T>({ request, name, journal }: Run, handler: Handler<T>): Awaitable<JsonObject> {
  request.work?.bindToInstance()
  beginCall(request)
  return runOnce(handler, new Run(request, name, journal.copyForNextRun(journal.responses)))
}
