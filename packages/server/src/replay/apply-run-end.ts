import type { JsonObject, RunEndKind } from '@x/schema'
import { isInputRequired } from '../definitions/context.ts'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { handOverToTask } from './become-task.ts'
import type { Handler, Run, RunOutcome } from './run.ts'
import { observeRunEnd } from './run-events.ts'
import { shedCall } from './shed-call.ts'
import { suspendCall, suspendForExplicitRound } from './suspend-call.ts'
import { warnSwallowedError } from './warnings.ts'

/** The functions with which the end of a run becomes a result. */
interface EndHandlers<T> {
  readonly toResult: Handler<T>['toResult']
  /** Runs the handler again on this instance, because its call could not be handed off. */
  readonly runOnInstance: () => Awaitable<JsonObject>
}

/** Returns the result of the call for the end of its run, and emits the end. Throws if the call has failed. */
export function applyRunEnd<T>(run: Run, outcome: RunOutcome<T>, handlers: EndHandlers<T>): Awaitable<JsonObject> {
  return observeRunEnd(run, successOf(run, outcome), () => createResult(run, outcome, handlers))
}

/**
 * Returns the end of a run whose result can be created. Undefined for a hand-off and a task, which emit their end
 * themselves.
 */
function successOf<T>({ end }: Run, outcome: RunOutcome<T>): RunEndKind | undefined {
  if (end?.kind === 'handed_off' || end?.kind === 'became_task') return undefined
  const isAsking = end?.kind === 'asked' || ('returned' in outcome && isInputRequired(outcome.returned))
  return isAsking ? 'asked' : 'finished'
}

function createResult<T>(
  run: Run,
  outcome: RunOutcome<T>,
  { toResult, runOnInstance }: EndHandlers<T>,
): Awaitable<JsonObject> {
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
      return mapAwaitable(shedCall(run, end.reason), (result) => result ?? runOnInstance())
    default:
      if ('thrown' in outcome) throw outcome.thrown
      return isInputRequired(outcome.returned)
        ? suspendForExplicitRound(run, outcome.returned)
        : toResult(outcome.returned)
  }
}
