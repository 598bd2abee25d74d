import { isPromiseLike } from '@x/core'
import type { RunEndKind } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { explicitRoundBrand, type InputRequiredReturn } from '../definitions/context.ts'
import { type Awaitable, mapAwaitable } from '../request/awaitable.ts'
import { passToRunner, shouldBeginAsTask } from './become-task.ts'
import type { Handler, RunOutcome } from './handler.ts'
import { openContext } from './open-context.ts'
import { Run } from './run.ts'
import { settleRun } from './settle-run.ts'
import { handOffCall, suspendCall, suspendForExplicitRound } from './suspend-call.ts'
import { runStrictly } from './strict-replay.ts'

/** Continues a call with the journal of its earlier runs. `beginCall` was called for the request. */
export function continueCall<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  emitResume(run)
  if (request.journalStore === undefined && !shouldBeginAsTask(handler.task, request))
    request.settings.loadMonitor.countResumedCall()
  return runCall(handler, run)
}

function emitResume({ request, name, journal }: Run): void {
  const { observation, settings, call, method } = request
  if (observation === undefined) return
  const { handOffCount, recorded } = journal
  const { round, startedAt, parts: recordedParts } = recorded
  settings.events.emit?.({ type: 'resume', call, method, name, round, handOffCount, startedAt, recordedParts })
}

/** Makes a call a task, or runs its handler. `beginCall` was called for the request. */
export function runCall<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const { request } = run
  const { loadMonitor, strictReplay } = request.settings
  if (shouldBeginAsTask(handler.task, request)) {
    loadMonitor.endCall(request)
    return createTask(run)
  }
  if (!strictReplay) return runHandler(handler, run)
  return runStrictly(handler, run).then<JsonObject>((last) => completeCall(last.run, last.outcome, handler))
}

function runHandler<T>(handler: Handler<T>, run: Run): Awaitable<JsonObject> {
  const complete = (outcome: RunOutcome<T>): Awaitable<JsonObject> =>
    mapAwaitable(settleRun(run, outcome), () => completeCall(run, outcome, handler))
  let handlerReturn: ReturnType<Handler<T>['run']>
  try {
    handlerReturn = handler.run(openContext(run))
  } catch (thrown) {
    return complete({ thrown })
  }
  if (!isPromiseLike(handlerReturn)) return complete({ returned: handlerReturn })
  return Promise.resolve(handlerReturn).then<JsonObject, JsonObject>(
    (returned) => complete({ returned }),
    (thrown: unknown) => complete({ thrown }),
  )
}

function completeCall<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  run.request.settings.loadMonitor.endCall(run.request)
  return observeRunEnd(run, observedEndOf(run, outcome), () => createResult(run, outcome, handler))
}

/**
 * Which end is emitted once the result is created. A task and a hand-off emit theirs, and a call that cannot be handed
 * off runs again.
 */
function observedEndOf({ end }: Run, outcome: RunOutcome<unknown>): 'asked' | 'finished' | undefined {
  if (end?.kind === 'became_task' || end?.kind === 'handed_off') return undefined
  const isAsking = end?.kind === 'asked' || ('returned' in outcome && isExplicitRound(outcome.returned))
  return isAsking ? 'asked' : 'finished'
}

function createResult<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  const { end } = run
  switch (end?.kind) {
    case 'finished':
      return createFinishedResult(run, outcome, handler)
    case 'store_failed':
    case 'misused':
      throw end.error
    case 'asked':
      return suspendCall(run)
    case 'became_task':
      return createTask(run)
    case 'handed_off':
      return handOffCall(run, end.reason).then<JsonObject>((result) => {
        if (result !== undefined) emitRunEnd(run, 'handed_off')
        return result ?? runOnInstance(run, handler)
      })
    case 'restarted':
    case undefined:
      throw new Error('A run that strict replay repeats, or that is not closed, has no result')
  }
}

function createTask(run: Run): Awaitable<JsonObject> {
  return observeRunEnd(run, 'became_task', () => passToRunner(run))
}

function createFinishedResult<T>(run: Run, outcome: RunOutcome<T>, handler: Handler<T>): Awaitable<JsonObject> {
  if ('thrown' in outcome) throw outcome.thrown
  return isExplicitRound(outcome.returned)
    ? suspendForExplicitRound(run, outcome.returned)
    : handler.toResult(outcome.returned)
}

function isExplicitRound(value: unknown): value is InputRequiredReturn {
  return typeof value === 'object' && value !== null && explicitRoundBrand in value
}

/**
 * Runs the handler again on this instance, because its call could not be handed off: load shedding must not fail a
 * call. The run is not strict, because only strict replay can restart one.
 */
function runOnInstance<T>({ request, name, journal }: Run, handler: Handler<T>): Awaitable<JsonObject> {
  request.work?.bindToInstance()
  request.settings.loadMonitor.beginCall(request)
  return runHandler(handler, new Run(request, name, journal.copyForNextRun()))
}

function observeRunEnd(
  run: Run,
  end: RunEndKind | undefined,
  createResult: () => Awaitable<JsonObject>,
): Awaitable<JsonObject> {
  if (end === undefined || run.request.observation === undefined) return createResult()
  const succeed = (result: JsonObject): JsonObject => {
    emitRunEnd(run, end)
    return result
  }
  const fail = (error: unknown): never => {
    emitRunEnd(run, run.rejectedEnd, error)
    throw error
  }
  let result: Awaitable<JsonObject>
  try {
    result = createResult()
  } catch (error) {
    return fail(error)
  }
  return isPromiseLike(result) ? Promise.resolve(result).then(succeed, fail) : succeed(result)
}

function emitRunEnd({ request, name, existingJournal }: Run, end: RunEndKind, error?: unknown): void {
  const { settings, observation, call, method } = request
  if (observation === undefined) return
  settings.events.emit?.({
    type: 'run',
    call,
    method,
    name,
    end,
    round: existingJournal?.recorded.round ?? 0,
    stepCount: observation.stepCount,
    questionCount: observation.questionCount,
    handOffCount: existingJournal?.handOffCount ?? 0,
    startedAt: existingJournal?.recorded.startedAt ?? observation.startedAt,
    durationMs: settings.now() - observation.beganAt,
    error,
  })
}
