import type { JsonObject } from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import type { Context } from '../request/context.ts'
import { openContext } from '../request/open-context.ts'
import { enterCall, leaveCall } from '../shedding/gauge.ts'
import { handOver } from './become-task.ts'
import type { TaskChoice } from './task-choice.ts'
import { type InputRequired, isInputRequired } from './input-required.ts'
import { beginRun, drained, endRun, type Run } from './run.ts'
import { shedCall } from './shed-call.ts'
import { suspendCall, suspendExplicitly } from './suspend-call.ts'
import { warnSwallowed } from './warn-swallowed.ts'

/** A handler, and what becomes of what it returns. */
export interface Handler<T> {
  /** The tool, prompt or resource. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequired>
  readonly finish: (returned: T) => Awaitable<JsonObject>
  /** Whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
}

/** How a run of a handler ended. */
export type Outcome<T> = { readonly returned: T | InputRequired } | { readonly thrown: unknown }

/** Runs a handler once. */
export async function attempt<T>(handler: Handler<T>, run: Run): Promise<Outcome<T>> {
  try {
    return { returned: await handler.run(openContext(run)) }
  } catch (thrown) {
    return { thrown }
  }
}

/** What the end of a run means for the call. Whether the handler asked is not to be learned from how it ended. */
export function settle<T>(run: Run, outcome: Outcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  endRun(run)
  countOut(run)
  if (run.lost !== undefined) throw run.lost
  if (run.asked !== undefined) return settleAsked(run, outcome)
  // One that had come to its end before it heard that it should become a task has its result.
  if (run.tasked && !run.unheard) return settleTasked(run, outcome)
  // One that had come to its end before it heard that it should move on needs not move any more.
  if (run.shed !== undefined && !run.unheard) return settleShed(run, outcome, handler)
  if (run.fault !== undefined) throw run.fault
  if ('thrown' in outcome) throw outcome.thrown
  const { returned } = outcome
  return isInputRequired(returned) ? suspendExplicitly(run, returned) : handler.finish(returned)
}

function countOut(run: Run): void {
  const { gauge } = run.scope.settings
  leaveCall(gauge)
  if (run.shed !== undefined) gauge.leaving--
}

function settleAsked<T>(run: Run, outcome: Outcome<T>): Awaitable<JsonObject> {
  return after(settleStopped(run, outcome), () => suspendCall(run))
}

async function settleTasked<T>(run: Run, outcome: Outcome<T>): Promise<JsonObject> {
  await settleStopped(run, outcome)
  return handOver(run)
}

/** Fails the call when something went wrong besides that its run was stopped. */
function settleStopped<T>(run: Run, outcome: Outcome<T>): Awaitable<void> {
  // What a step has done by now is recorded, or it would be done twice.
  return after(drained(run), () => {
    if (run.lost !== undefined) throw run.lost
    if (run.fault !== undefined) throw run.fault
    warnSwallowed(run, outcome)
  })
}

async function settleShed<T>(run: Run, outcome: Outcome<T>, handler: Handler<T>): Promise<JsonObject> {
  await settleStopped(run, outcome)
  const { scope, name, journal, responses } = run
  const result = await shedCall(run)
  if (result !== undefined) return result
  // What cannot travel is done here: a call must not fail because somebody wanted it to move.
  const stay = beginRun(scope, name, { journal, responses, before: run, stays: true })
  enterCall(scope.settings.gauge)
  return settle(stay, await attempt(handler, stay), handler)
}
