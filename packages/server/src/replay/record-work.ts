import { cloneJson, type JsonLeaf, quoteName } from '@x/core'
import type { JsonValue } from '@x/schema'
import { type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import type { Checkpoint, StepContext, StepResult, WidenedValue } from '../definitions/context.ts'
import { handleStepBoundary, commitJournalEntries, recordJournalEntry } from './boundary.ts'
import { deriveUuid } from './call-identity.ts'
import { tryCopyJson } from '../request/json-copy.ts'
import {
  trackWork,
  effectsIdOf,
  registerContextUse,
  failRun,
  journalOf,
  markUsesBeforeCheckpoint,
  runInStep,
  markWorkStarted,
  type Run,
  lateUseError,
} from './run.ts'

/** Runs work and records its result, so that later runs have it without the work. */
export async function runStep<T extends StepResult>(
  run: Run,
  key: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  registerContextUse(run, { kind: 'step', functionName: 'ctx.step', key })
  const { steps, tryIds } = journalOf(run)
  const stepRecord = steps.get(key)
  // The journal has the result of this very step. The handler gets a copy, which it may change.
  if (stepRecord !== undefined) return cloneJson(stepRecord.value) as T
  markWorkStarted(run)
  const value = await trackWork(run, async () => {
    // Values passed to the work, such as a UUID, must be the same when it is repeated.
    const pendingEarlierCommit = commitJournalEntries(run)
    if (pendingEarlierCommit !== undefined) await pendingEarlierCommit
    const pendingEffectsId = tryIds.get(key) ?? effectsIdOf(run)
    const id = isPromiseLike(pendingEffectsId) ? await pendingEffectsId : pendingEffectsId
    const workResult = await runStepWork(run, { key, id }, work)
    tryIds.delete(key)
    const resultCopy = workResult === undefined ? undefined : requireJsonCopy(run, `ctx.step("${key}")`, workResult)
    steps.set(key, { value: resultCopy })
    recordJournalEntry(run, 'steps', key)
    const pendingCommit = commitJournalEntries(run)
    if (pendingCommit !== undefined) await pendingCommit
    return resultCopy
  })
  rejectLateUse(run, 'ctx.step')
  const boundaryPromise = handleStepBoundary(run)
  if (boundaryPromise !== undefined) {
    await boundaryPromise
    rejectLateUse(run, 'ctx.step')
  }
  // A copy of what the work gave, which differs from it in nothing that JSON can say.
  return cloneJson(value) as T
}

/** Opens a checkpoint: its value is what an earlier run saved, or else where to begin. */
export function openCheckpoint<T extends JsonLeaf | object>(
  run: Run,
  key: string,
  initialValue: T,
): Checkpoint<WidenedValue<T>> {
  registerContextUse(run, { kind: 'checkpoint', functionName: 'ctx.checkpoint', key })
  markWorkStarted(run)
  const { checkpoints } = journalOf(run)
  const functionName = `ctx.checkpoint("${key}")`
  // The journal has the value of this very checkpoint, and a copy has the type of its original.
  let currentValue = requireJsonCopy(
    run,
    functionName,
    checkpoints.has(key) ? checkpoints.get(key) : initialValue,
  ) as WidenedValue<T>
  return {
    get value() {
      return currentValue
    },
    async save(value) {
      rejectLateUse(run, functionName)
      const savedValue = requireJsonCopy(run, functionName, value)
      checkpoints.set(key, savedValue)
      // As above, and a copy of its own, so that nothing is recorded that was not saved.
      currentValue = cloneJson(savedValue) as WidenedValue<T>
      recordJournalEntry(run, 'checkpoints', key)
      const pendingCommit = commitJournalEntries(run)
      if (pendingCommit !== undefined) {
        await pendingCommit
        rejectLateUse(run, functionName)
      }
      if (run.isReplayStrict) markUsesBeforeCheckpoint(run, key)
      const boundaryPromise = handleStepBoundary(run)
      if (boundaryPromise === undefined) return
      await boundaryPromise
      rejectLateUse(run, functionName)
    },
  }
}

/** When the call began, in milliseconds since 1970: the same in every run. */
export function startTimeOf(run: Run): number {
  return journalOf(run).startedAt
}

/** A UUID that is the same in every run that follows, and when a call with an idempotency key is sent again. */
export function recordUuid(run: Run, key: string): string {
  const { uuids } = journalOf(run)
  if (run.contextUses?.has(`uuid ${key}`) !== true)
    registerContextUse(run, { kind: 'uuid', functionName: 'ctx.uuid', key })
  const recordedValue = uuids.get(key)
  if (recordedValue !== undefined) return recordedValue
  const newUuid = deriveUuid(effectsIdOf(run), key) ?? run.request.settings.randomUuid()
  uuids.set(key, newUuid)
  recordJournalEntry(run, 'uuids', key)
  return newUuid
}

function rejectLateUse(run: Run, functionName: string): void {
  if (run.phase !== 'running') throw lateUseError(run, functionName)
}

/**
 * Runs the work. Work that fails has the same idempotency key when it is tried again, even after further answers.
 */
async function runStepWork<T>(
  run: Run,
  { key, id }: { readonly key: string; readonly id: string },
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  try {
    const context = { idempotencyKey: `${id}/${key}`, signal: run.request.call.signal }
    return await runInStep(run, () => work(context))
  } catch (error) {
    journalOf(run).tryIds.set(key, id)
    recordJournalEntry(run, 'tries', key)
    throw error
  }
}

function requireJsonCopy(run: Run, functionName: string, value: unknown): JsonValue {
  const jsonCopy = tryCopyJson(value)
  if ('reason' in jsonCopy)
    throw failRun(run, 'json', `${functionName} of ${quoteName(run.name)} must give JSON, but ${jsonCopy.reason}`)
  return jsonCopy.value
}
