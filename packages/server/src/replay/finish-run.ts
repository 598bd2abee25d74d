import type { JsonObject } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { type Context, type TaskChoice, type InputRequiredReturn, isInputRequired } from '../definitions/context.ts'
import { openContext } from './open-context.ts'
import { beginCall, endCall } from '../shedding/load-monitor.ts'
import type { ShedReason } from '../shedding/shedding-options.ts'
import { beginRun, waitForPendingWork, endRun, endRunHandOff, isStopping, type Run } from './run.ts'
import { finishStartedUses } from './finish-uses.ts'
import { handOverToTask } from './become-task.ts'
import { shedCall } from './shed-call.ts'
import { suspendCall, suspendForExplicitRound } from './suspend-call.ts'
import { warnSwallowedError } from './warnings.ts'

/** A handler, and what becomes of what it returns. */
export interface Handler<T> {
  /** The tool, prompt or resource. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequiredReturn>
  readonly toResult: (returnValue: T) => Awaitable<JsonObject>
  /** The choice whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
  /** True when a completed result is kept for a call that is sent again. A method that reads is as well run again. */
  readonly hasEffects?: boolean | undefined
}

/** The end of a run of a handler. */
export type RunOutcome<T> = { readonly returned: T | InputRequiredReturn } | { readonly thrown: unknown }

/** Runs a handler once. */
export async function runHandlerOnce<T>(handler: Handler<T>, run: Run): Promise<RunOutcome<T>> {
  try {
    return { returned: await handler.run(openContext(run)) }
  } catch (thrownError) {
    return { thrown: thrownError }
  }
}

/** Converts the end of a run into the outcome of the call. A handler's return value does not show whether it asked. */
export function finishRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  // Most handlers start neither a question nor a step.
  if (run.startedUses === undefined) return endHandlerRun(run, outcome, handler)
  return mapAwaitable(finishStartedUses(run, outcome), () => endHandlerRun(run, outcome, handler))
}

function endHandlerRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  endRun(run)
  endCall(run.request)
  endRunHandOff(run)
  // Finished steps of a run that was stopped are recorded now, or they would be repeated.
  return isStopping(run) && run.end?.kind !== 'finished' && run.end?.kind !== 'store_failed'
    ? mapAwaitable(waitForPendingWork(run), () => applyRunEnd(run, outcome, handler))
    : applyRunEnd(run, outcome, handler)
}

/** Fails the call when something went wrong besides that its run was stopped. */
function applyRunEnd<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  const end = run.end
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
      return finishShedRun(run, end.reason, handler)
    default:
      return applyOutcome(run, outcome, handler)
  }
}

function applyOutcome<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  if ('thrown' in outcome) throw outcome.thrown
  const { returned } = outcome
  return isInputRequired(returned) ? suspendForExplicitRound(run, returned) : handler.toResult(returned)
}

async function finishShedRun<T>(run: Run, reason: ShedReason, handler: Handler<T>): Promise<JsonObject> {
  const { request, name, journal, responses } = run
  const result = await shedCall(run, reason)
  if (result !== undefined) return result
  // A call that cannot be handed off runs to its end on this instance, because load shedding must not fail a call.
  const instanceBoundRun = beginRun(request, name, { journal, responses, previousRun: run, isBoundToInstance: true })
  beginCall(request)
  return finishRun(instanceBoundRun, await runHandlerOnce(handler, instanceBoundRun), handler)
}
