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

/** A handler, and the conversion of its return value into a result. */
export interface Handler<T> {
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequiredReturn>
  readonly toResult: (returnValue: T) => Awaitable<JsonObject>
  /** The author's choice whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
  /**
   * True if the handler may have effects, so that its result is stored for calls that are sent again. Without effects,
   * the handler runs again instead.
   */
  readonly hasEffects?: boolean | undefined
}

/** The return value of a handler, or the error that it threw. */
export type RunOutcome<T> = { readonly returned: T | InputRequiredReturn } | { readonly thrown: unknown }

/** Runs a handler once. Never rejects. */
export async function runHandlerOnce<T>(handler: Handler<T>, run: Run): Promise<RunOutcome<T>> {
  try {
    return { returned: await handler.run(openContext(run)) }
  } catch (thrownError) {
    return { thrown: thrownError }
  }
}

/**
 * Converts the outcome of a handler into the result of the call. The outcome alone is not enough, because it does not
 * show whether the handler asked a question.
 */
export function finishRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  // Most handlers start neither a question nor a step.
  if (run.startedUses === undefined) return endHandlerRun(run, outcome, handler)
  return mapAwaitable(finishStartedUses(run, outcome), () => endHandlerRun(run, outcome, handler))
}

function endHandlerRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  endRun(run)
  endCall(run.request)
  endRunHandOff(run)
  // The steps of a stopped run are awaited, so that their results are recorded. Otherwise a later run would repeat
  // them.
  return isStopping(run) && run.end?.kind !== 'finished' && run.end?.kind !== 'store_failed'
    ? mapAwaitable(waitForPendingWork(run), () => applyRunEnd(run, outcome, handler))
    : applyRunEnd(run, outcome, handler)
}

/** Returns the result of the call for the end of its run. Throws if the call has failed. */
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
