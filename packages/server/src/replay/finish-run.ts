import type { JsonObject } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { type Context, type TaskChoice, type InputRequired, isInputRequired } from '../definitions/context.ts'
import { openContext } from './open-context.ts'
import { beginCall, endCall } from '../shedding/load-monitor.ts'
import { handOverToTask, beginRun, waitUntilDrained, endRun, type Run } from './run.ts'
import { shedCall } from './shed-call.ts'
import { suspendCall, suspendExplicitly } from './suspend-call.ts'
import { warnSwallowedError } from './warnings.ts'

/** A handler, and what becomes of what it returns. */
export interface Handler<T> {
  /** The tool, prompt or resource. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequired>
  readonly finish: (returned: T) => Awaitable<JsonObject>
  /** The choice whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
  /** True when a completed result is kept for a call that is sent again; a method that reads is as well run again. */
  readonly hasEffects?: boolean | undefined
}

/** The end of a run of a handler. */
export type RunOutcome<T> = { readonly returned: T | InputRequired } | { readonly thrown: unknown }

/** Runs a handler once. */
export async function runAttempt<T>(handler: Handler<T>, run: Run): Promise<RunOutcome<T>> {
  try {
    return { returned: await handler.run(openContext(run)) }
  } catch (thrown) {
    return { thrown }
  }
}

/** Converts the end of a run into the outcome of the call. A handler's return value does not show whether it asked. */
export function finishRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  endRun(run)
  countRunEnd(run)
  if (run.storeError !== undefined) throw run.storeError
  if (run.askedQuestions !== undefined) return finishAskingRun(run, outcome)
  // One that had come to its end before it heard that it should become a task has its result.
  if (run.isContinuingAsTask && !run.hasSwallowedError) return finishRunAsTask(run, outcome)
  // One that had come to its end before it heard that it should move on needs not move any more.
  if (run.shedReason !== undefined && !run.hasSwallowedError) return finishShedRun(run, outcome, handler)
  if (run.fault !== undefined) throw run.fault
  if ('thrown' in outcome) throw outcome.thrown
  const { returned } = outcome
  return isInputRequired(returned) ? suspendExplicitly(run, returned) : handler.finish(returned)
}

function countRunEnd(run: Run): void {
  endCall(run.request)
  if (run.shedReason !== undefined) run.request.settings.loadMonitor.handOffsInProgress--
}

function finishAskingRun<T>(run: Run, outcome: RunOutcome<T>): Awaitable<JsonObject> {
  return mapAwaitable(finishStoppedRun(run, outcome), () => suspendCall(run))
}

async function finishRunAsTask<T>(run: Run, outcome: RunOutcome<T>): Promise<JsonObject> {
  await finishStoppedRun(run, outcome)
  return handOverToTask(run)
}

/** Fails the call when something went wrong besides that its run was stopped. */
function finishStoppedRun<T>(run: Run, outcome: RunOutcome<T>): Awaitable<void> {
  // Finished steps are recorded now, or they would be repeated.
  return mapAwaitable(waitUntilDrained(run), () => {
    if (run.storeError !== undefined) throw run.storeError
    if (run.fault !== undefined) throw run.fault
    warnSwallowedError(run, outcome)
  })
}

async function finishShedRun<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Promise<JsonObject> {
  await finishStoppedRun(run, outcome)
  const { request, name, journal, responses } = run
  const result = await shedCall(run)
  if (result !== undefined) return result
  // A call that cannot be handed off is finished here: it must not fail because the server wanted to move it.
  const stayingRun = beginRun(request, name, { journal, responses, before: run, stays: true })
  beginCall(request)
  return finishRun(stayingRun, await runAttempt(handler, stayingRun), handler)
}
