import { cloneJson, type JsonLeaf, quoteText, isPromiseLike } from '@x/core'
import { canHandOffKey } from '@x/exchange'
import type { JsonValue } from '@x/schema'
import { allowUnawaited, type Awaitable } from '../request/awaitable.ts'
import type { Checkpoint, StepContext, StepResult, WidenedValue } from '../definitions/context.ts'
import { deriveUuid } from './call-identity.ts'
import { startUse } from './context-uses.ts'
import { HandlerError } from './handler-error.ts'
import { describeType, tryCopyJson } from '../request/json-copy.ts'
import { decideHandOff, type InstanceWork } from '../shedding/hand-off.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { Run } from './run.ts'

/** `ctx.step`: starts the work, and returns the promise that the handler awaits. */
export function startStep<T extends StepResult>(
  run: Run,
  key: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  const result = runStep(run, key, work)
  return startUse(run, 'ctx.step', key, result)
}

async function runStep<T extends StepResult>(
  run: Run,
  key: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  run.uses.registerUse('step', key, 'ctx.step')
  if (typeof work !== 'function') throw notCallableError(run, key, work)
  const stepRecord = run.journal.findStep(key)
  // The cast is safe: the journal has this step's result. A copy, because the handler may change it.
  if (stepRecord !== undefined) return cloneJson(stepRecord.value) as T
  const instanceWork = run.work
  const value = await executeStep(run, key, work)
  run.checkNotOver('ctx.step')
  const boundaryPromise = handleStepBoundary(run, instanceWork)
  if (boundaryPromise !== undefined) {
    await boundaryPromise
    run.checkNotOver('ctx.step')
  }
  // The cast is safe: this is a JSON copy of what the work returned.
  return cloneJson(value) as T
}

/** For work that is no function, such as `ctx.step('charge', charge())`, which would run again in every run. */
function notCallableError(run: Run, key: string, work: unknown): HandlerError {
  const advice = `write a function that begins the work, as in ctx.step("${key}", () => …)`
  const isPromise = isPromiseLike(work)
  if (isPromise) allowUnawaited(Promise.resolve(work))
  const given = isPromise ? 'a promise' : describeType(work)
  return run.fail(new HandlerError('json', `ctx.step("${key}") was given ${given}; ${advice}`))
}

async function executeStep<T>(
  run: Run,
  key: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<JsonValue | undefined> {
  const { journal } = run
  run.beginWork()
  try {
    // Earlier entries are committed first: if the work is repeated, what it uses, such as a UUID, must be the same.
    const pendingEarlierCommit = commitRunJournal(run, { step: key })
    if (pendingEarlierCommit !== undefined) {
      await pendingEarlierCommit
      run.checkNotOver('ctx.step')
    }
    const pendingEffectsId = journal.stepEffectsId(key)
    const effectsId = isPromiseLike(pendingEffectsId) ? await pendingEffectsId : pendingEffectsId
    const doWork = (): Promise<T> => doStepWork(run, key, effectsId, work)
    const result = await (run.request.observation === undefined ? doWork() : observeStep(run, key, doWork))
    const resultCopy = result === undefined ? undefined : requireJsonCopy(run, `ctx.step("${key}")`, result)
    journal.recordStep(key, resultCopy)
    const pendingCommit = commitRunJournal(run)
    if (pendingCommit !== undefined) await pendingCommit
    return resultCopy
  } finally {
    run.endWork()
  }
}

async function observeStep<T>({ request, name }: Run, key: string, work: () => Promise<T>): Promise<T> {
  const { observation, settings, call, method } = request
  if (observation === undefined) return work()
  const startedAt = settings.now()
  const emitEnd = (error: unknown): void => {
    observation.stepCount += 1
    const durationMs = settings.now() - startedAt
    settings.events.emit?.({ type: 'step', call, method, name, key, durationMs, error })
  }
  try {
    const value = await work()
    emitEnd(undefined)
    return value
  } catch (error) {
    emitEnd(error)
    throw error
  }
}

/**
 * Calls the step's function. If it fails, later attempts keep this idempotency key, even if the client has sent more
 * answers since.
 */
async function doStepWork<T>(
  run: Run,
  key: string,
  effectsId: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  try {
    const context = { idempotencyKey: `${effectsId}/${key}`, signal: run.request.call.signal }
    return await run.uses.callInStep(work, context)
  } catch (error) {
    run.journal.recordFailedStep(key, effectsId)
    throw error
  }
}

/**
 * Commits new journal entries before the handler continues; undefined if there are none. A failing commit fails the
 * call and rejects with the suspension. `next` is the step whose work follows, if there is one.
 */
function commitRunJournal(run: Run, next?: { readonly step: string }): Promise<void> | undefined {
  return run.journal.commit(next)?.catch((error: unknown) => {
    throw run.failStore(error)
  })
}

/**
 * Here a call can move: a step has ended or a checkpoint was saved, and all work is recorded. Undefined if the handler
 * continues at once; otherwise a promise that resolves when it may, or rejects when the run is suspended.
 */
function handleStepBoundary(run: Run, work: InstanceWork): Promise<void> | undefined {
  // A handler that has ended, or a call that has failed, is neither handed off nor restarted.
  if (run.end?.kind === 'finished' || run.end?.kind === 'misused') return undefined
  // A stopped run is not handed off: an open question ends it anyway, and parallel branches should reach their own
  // questions first.
  const reason = run.wasStopped ? undefined : findHandOffReason(run, work)
  if (reason !== undefined) return run.handOff(reason)
  if (run.isStrict && run.askedQuestions === undefined) return run.restart()
  return run.wasStopped ? undefined : work.yieldIfDue()
}

function canHandOff({ request }: Run, { isBound }: InstanceWork): boolean {
  const { settings, journalStore, call } = request
  const { calls } = settings.loadMonitor.rules
  return (
    !isBound &&
    journalStore === undefined &&
    (calls === 'all' || (calls === 'resumable' && call.context.get(canHandOffKey) === true))
  )
}

function findHandOffReason(run: Run, work: InstanceWork): HandOffReason | undefined {
  if (!canHandOff(run, work)) return undefined
  const { name, journal } = run
  const workedMs = work.elapsedMs
  const { settings, method, drainCount } = run.request
  const { shedCount, stopCount, round, handOffReport } = journal.recorded
  const call = { method, name, shedCount, roundCount: round, workedMs, drainCount, stopCount, handOffReport }
  const reason = decideHandOff(settings.loadMonitor, call)
  if (typeof reason !== 'object') return reason
  run.report(reason.error)
  return undefined
}

/** `ctx.checkpoint`: begins with the value that an earlier run saved, or else with the initial one. */
export function openCheckpoint<T extends JsonLeaf | object>(
  run: Run,
  key: string,
  initialValue: T,
): Checkpoint<WidenedValue<T>> {
  run.uses.registerUse('checkpoint', key, 'ctx.checkpoint')
  const { journal } = run
  const instanceWork = run.work
  const functionName = `ctx.checkpoint("${key}")`
  const savedValue = journal.findCheckpoint(key)
  // The cast is safe: saved and initial value both have this type, and so does a copy of either.
  let currentValue = requireJsonCopy(
    run,
    functionName,
    savedValue === undefined ? initialValue : savedValue,
  ) as WidenedValue<T>
  const saveValue = async (value: WidenedValue<T>): Promise<void> => {
    run.uses.checkUse(functionName)
    const valueCopy = requireJsonCopy(run, functionName, value)
    journal.recordCheckpoint(key, valueCopy)
    // The cast is safe for the same reason. A second copy keeps unsaved changes of the handler out of the journal.
    currentValue = cloneJson(valueCopy) as WidenedValue<T>
    const pendingCommit = commitRunJournal(run)
    if (pendingCommit !== undefined) await pendingCommit
    if (run.isStrict) run.uses.skipSince(key)
    run.checkNotOver(functionName)
    const boundaryPromise = handleStepBoundary(run, instanceWork)
    if (boundaryPromise !== undefined) {
      await boundaryPromise
      run.checkNotOver(functionName)
    }
  }
  return {
    get value() {
      return currentValue
    },
    save: (value) => allowUnawaited(saveValue(value)),
  }
}

/** A key's UUID: the same in every later run, and when a call with an idempotency key is sent again. */
export function recordUuid(run: Run, key: string): string {
  const { journal, request, uses } = run
  if (uses.keys.has(`uuid ${key}`)) uses.checkUse('ctx.uuid')
  else uses.registerUse('uuid', key, 'ctx.uuid')
  const recordedUuid = journal.findUuid(key)
  if (recordedUuid !== undefined) return recordedUuid
  const newUuid = deriveUuid(journal.effectsId(), key) ?? request.settings.randomUuid()
  journal.recordUuid(key, newUuid)
  return newUuid
}

function requireJsonCopy(run: Run, functionName: string, value: unknown): JsonValue {
  const jsonCopy = tryCopyJson(value)
  if (!('reason' in jsonCopy)) return jsonCopy.value
  const reason = `${functionName} of ${quoteText(run.name)} must give JSON, but ${jsonCopy.reason}`
  throw run.fail(new HandlerError('json', reason))
}
