import type { JsonLeaf, JsonValue } from '@x/schema'
import { type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { quote } from '../request/report.ts'
import type { Checkpoint, StepContext, StepResult, Widened } from '../definitions/context.ts'
import { beginWork, passBoundary, commitEntries, noteEntry } from './boundary.ts'
import { uuidAt } from './call-identity.ts'
import { cloneJson, jsonCopy } from './json-copy.ts'
import { whileWorking, effectsOf, enterUse, failRun, journalOf, passCheckpoint, type Run, tooLate } from './run.ts'

/** Runs work and records its result, so that later runs have it without the work. */
export async function step<T extends StepResult>(
  run: Run,
  key: string,
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  enterUse(run, { kind: 'step', called: 'ctx.step', key })
  const { steps, tries } = journalOf(run)
  const known = steps.get(key)
  // The journal has the result of this very step. The handler gets a copy, which it may change.
  if (known !== undefined) return cloneJson(known.value) as T
  beginWork(run)
  const value = await whileWorking(run, async () => {
    // Values passed to the work, such as a UUID, must be the same when it is repeated.
    const committed = commitEntries(run)
    if (committed !== undefined) await committed
    const effects = tries.get(key) ?? effectsOf(run)
    const id = isPromiseLike(effects) ? await effects : effects
    const given = await tryWork(run, { key, id }, work)
    tries.delete(key)
    const copy = given === undefined ? undefined : checkedResult(run, `ctx.step("${key}")`, given)
    steps.set(key, { value: copy })
    noteEntry(run, 'steps', key)
    const recorded = commitEntries(run)
    if (recorded !== undefined) await recorded
    return copy
  })
  rejectLate(run, 'ctx.step')
  const turn = passBoundary(run)
  if (turn !== undefined) {
    await turn
    rejectLate(run, 'ctx.step')
  }
  // A copy of what the work gave, which differs from it in nothing that JSON can say.
  return cloneJson(value) as T
}

/** Opens a checkpoint: its value is what an earlier run saved, or else where to begin. */
export function checkpoint<T extends JsonLeaf | object>(run: Run, key: string, initial: T): Checkpoint<Widened<T>> {
  enterUse(run, { kind: 'checkpoint', called: 'ctx.checkpoint', key })
  beginWork(run)
  const { checkpoints } = journalOf(run)
  const called = `ctx.checkpoint("${key}")`
  // The journal has the value of this very checkpoint, and a copy has the type of its original.
  let current = checkedResult(run, called, checkpoints.has(key) ? checkpoints.get(key) : initial) as Widened<T>
  return {
    get value() {
      return current
    },
    async save(value) {
      rejectLate(run, called)
      const saved = checkedResult(run, called, value)
      checkpoints.set(key, saved)
      // As above; and a copy of its own, so that nothing is recorded that was not saved.
      current = cloneJson(saved) as Widened<T>
      noteEntry(run, 'checkpoints', key)
      const recorded = commitEntries(run)
      if (recorded !== undefined) {
        await recorded
        rejectLate(run, called)
      }
      if (run.strict) passCheckpoint(run, key)
      const turn = passBoundary(run)
      if (turn === undefined) return
      await turn
      rejectLate(run, called)
    },
  }
}

/** When the call began, in milliseconds since 1970: the same in every run. */
export function now(run: Run): number {
  return journalOf(run).began
}

/** A UUID that is the same in every run that follows, and when a call with an idempotency key is sent again. */
export function uuid(run: Run, key: string): string {
  const { uuids } = journalOf(run)
  if (run.used?.has(`uuid ${key}`) !== true) enterUse(run, { kind: 'uuid', called: 'ctx.uuid', key })
  const known = uuids.get(key)
  if (known !== undefined) return known
  const made = uuidAt(effectsOf(run), key) ?? run.request.settings.randomUuid()
  uuids.set(key, made)
  noteEntry(run, 'uuids', key)
  return made
}

function rejectLate(run: Run, called: string): void {
  if (run.phase !== 'running') throw tooLate(run, called)
}

/**
 * Runs the work; one that fails has the same idempotency key when it is tried again, whatever is answered in between.
 */
async function tryWork<T>(
  run: Run,
  { key, id }: { readonly key: string; readonly id: string },
  work: (context: StepContext) => Awaitable<T>,
): Promise<T> {
  try {
    return await callStep(run, work, { idempotencyKey: `${id}/${key}`, signal: run.request.call.signal })
  } catch (error) {
    journalOf(run).tries.set(key, id)
    noteEntry(run, 'tries', key)
    throw error
  }
}

/** Runs the work with a flag for what it does before its first await: it must not use the context. */
function callStep<T>(run: Run, work: (context: StepContext) => Awaitable<T>, context: StepContext): Awaitable<T> {
  run.inStep = true
  try {
    return work(context)
  } finally {
    run.inStep = false
  }
}

function checkedResult(run: Run, called: string, value: unknown): JsonValue {
  const copied = jsonCopy(value)
  if ('reason' in copied)
    throw failRun(run, 'json', `${called} of ${quote(run.name)} must give JSON, but ${copied.reason}`)
  return copied.value
}
