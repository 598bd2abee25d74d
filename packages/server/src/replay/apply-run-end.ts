import type { JsonObject } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { createTask } from './become-task.ts'
import type { Run, RunOutcome } from './run.ts'
import { handOffCall } from './hand-off-call.ts'
import { suspendCall } from './suspend-call.ts'
import { warnSwallowedError } from './warnings.ts'

/**
 * Returns the result of a call whose run did not finish. Throws if the call has failed. `runOnInstance` runs the handler
 * again on this instance, for a call that cannot be handed off.
 */
export function applyRunEnd(
  run: Run,
  outcome: RunOutcome<unknown>,
  runOnInstance: () => Awaitable<JsonObject>,
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
      return createTask(run)
    case 'handed_off':
      warnSwallowedError(run, outcome)
      return mapAwaitable(handOffCall(run, end.reason), (result) => result ?? runOnInstance())
    case 'finished':
    case 'restarted':
    case undefined:
      // `runHandler` has the result of a finished run, and strict replay returns no run that it restarts.
      throw new Error('A run that finished or that strict replay restarts has no result here')
  }
}
