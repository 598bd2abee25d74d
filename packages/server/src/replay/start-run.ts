import type { JsonObject } from '@x/schema'
import { type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { openContext } from './open-context.ts'
import type { RequestState } from './served-request.ts'
import type { InputRequired } from '../definitions/input-required.ts'
import { beginRun, type RunStart } from './run.ts'
import { runAttempt, type Handler, finishRun } from './finish-run.ts'
import { runStrictly } from './strict-replay.ts'

/** Runs a handler for the first time, once its call was counted. One that asks nothing is called, and that is all. */
export function startRun<T>(handler: Handler<T>, request: RequestState, start?: RunStart): Awaitable<JsonObject> {
  if (request.settings.strictReplay) return runStrictly(start ?? {}, handler, request)
  const run = beginRun(request, handler.name, start)
  let returned: Awaitable<T | InputRequired>
  try {
    returned = handler.run(openContext(run))
  } catch (thrown) {
    return finishRun(run, { thrown }, handler)
  }
  if (!isPromiseLike(returned)) return finishRun(run, { returned }, handler)
  return Promise.resolve(returned).then(
    (value) => finishRun(run, { returned: value }, handler),
    (thrown: unknown) => finishRun(run, { thrown }, handler),
  )
}

/** Runs a handler again from the top, with what is known so far, once its call was counted. */
export async function runFrom<T>(start: RunStart, handler: Handler<T>, request: RequestState): Promise<JsonObject> {
  if (request.settings.strictReplay) return runStrictly(start, handler, request)
  const run = beginRun(request, handler.name, start)
  return finishRun(run, await runAttempt(handler, run), handler)
}
