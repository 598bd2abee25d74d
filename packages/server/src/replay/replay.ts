import type { JsonObject } from '@x/schema'
import { type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { openContext } from '../request/open-context.ts'
import type { Scope } from '../request/scope.ts'
import { beginsAsTask, handOver } from './become-task.ts'
import type { InputRequired } from './input-required.ts'
import { openKept, openState } from './request-state.ts'
import { beginRun, type RunStart } from './run.ts'
import { admitCall } from '../shedding/admit-call.ts'
import { enterCall } from '../shedding/gauge.ts'
import { attempt, type Handler, settle } from './settle.ts'
import { runStrictly } from './strict-replay.ts'

/**
 * Runs a handler to its end, or to where it needs the client: then the result asks for that, and when the client comes
 * back, here or at another instance, the handler runs again from the top with what is known so far.
 *
 * A handler that asks nothing is called, and that is all.
 */
export function replay<T>(handler: Handler<T>, scope: Scope): Awaitable<JsonObject> {
  const { requestState } = scope.params
  const { gauge, strictReplay } = scope.settings
  // A task was admitted long ago, and would fail if it were refused now.
  if (scope.call.journal !== undefined)
    return runFrom(openKept(scope.call.journal, scope, handler.name), handler, scope)
  admitCall(gauge, typeof requestState === 'string')
  const isTask = beginsAsTask(handler.task, scope)
  if (typeof requestState === 'string') {
    return openState(requestState, scope, handler.name).then((start) => {
      if (isTask) return handOver(beginRun(scope, handler.name, start))
      gauge.resumed++
      return runFrom(start, handler, scope)
    })
  }
  if (isTask) return handOver(beginRun(scope, handler.name))
  enterCall(gauge)
  if (strictReplay) return runStrictly({}, handler, scope)
  const run = beginRun(scope, handler.name)
  let returned: Awaitable<T | InputRequired>
  try {
    returned = handler.run(openContext(run))
  } catch (thrown) {
    return settle(run, { thrown }, handler)
  }
  if (!isPromiseLike(returned)) return settle(run, { returned }, handler)
  return returned.then(
    (value) => settle(run, { returned: value }, handler),
    (thrown: unknown) => settle(run, { thrown }, handler),
  )
}

async function runFrom<T>(start: RunStart, handler: Handler<T>, scope: Scope): Promise<JsonObject> {
  const { gauge, strictReplay } = scope.settings
  enterCall(gauge)
  if (strictReplay) return runStrictly(start, handler, scope)
  const run = beginRun(scope, handler.name, start)
  return settle(run, await attempt(handler, run), handler)
}
