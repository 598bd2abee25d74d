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

/**
 * Runs the work of a step and records its result. Later runs return the recorded result without doing the work again.
 */
export async function runStep<T extends StepResult>(
  run: Run,
  key: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  registerContextUse(run, { kind: 'step', functionName: 'ctx.step', key })
  const { steps, tryIds } = journalOf(run)
  const stepRecord = steps.get(key)
  // The cast is safe, because the journal has the result of this step. The copy allows the handler to change the value.
  if (stepRecord !== undefined) return cloneJson(stepRecord.value) as T
  markWorkStarted(run)
  const value = await trackWork(run, async () => {
    // Earlier entries are committed first. Values that the work uses, such as a UUID, must be the same if it is
    // repeated.
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
  // The cast is safe, because the value is a JSON copy of what the work returned.
  return cloneJson(value) as T
}

/** Opens a checkpoint. Its value is the one that an earlier run saved, or else the initial value. */
export function openCheckpoint<T extends JsonLeaf | object>(
  run: Run,
  key: string,
  initialValue: T,
): Checkpoint<WidenedValue<T>> {
  registerContextUse(run, { kind: 'checkpoint', functionName: 'ctx.checkpoint', key })
  markWorkStarted(run)
  const { checkpoints } = journalOf(run)
  const functionName = `ctx.checkpoint("${key}")`
  // The cast is safe, because the saved value and the initial value both have this type, and so does a copy of either.
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
      // The cast is safe for the same reason. This is a second copy, so that unsaved changes by the handler do not
      // reach the journal.
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

/** Returns the time at which the call began, in milliseconds since 1970. It is the same in every run. */
export function startTimeOf(run: Run): number {
  return journalOf(run).startedAt
}

/**
 * Returns the UUID for a key. It is the same in every later run, and when a call with an idempotency key is sent again.
 */
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
 * Runs the work of a step. If the work fails, later attempts have the same idempotency key, even if the client has sent
 * more answers since.
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
