import { parseJsonObject } from '@x/core'
import type { JsonObject } from '@x/schema'
import { extendsResultKey } from '@x/schema/internal'
import type { StateStore } from '@x/state-codec'
import type { IdempotencyOptions } from '../shedding/shedding-options.ts'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import type { RequestState } from './served-request.ts'
import { deriveEffectsId } from './call-identity.ts'
import type { RunStart } from './run.ts'
import type { Handler } from './finish-run.ts'

/** A call that continues from the state that it came with, or begins. */
interface CallAttempt {
  readonly runStart?: RunStart | undefined
  readonly run: () => Awaitable<JsonObject>
}

/**
 * Answers a call with the result that it has had before, or runs it and stores its result. That needs a store, an
 * idempotency key and an authenticated caller. A result that asks or hands the call over is not stored, and a method
 * that reads runs again.
 */
export function answerOnce<T>(
  { name, hasEffects }: Pick<Handler<T>, 'name' | 'hasEffects'>,
  request: RequestState,
  { runStart, run }: CallAttempt,
): Awaitable<JsonObject> {
  const { settings, call, callId } = request
  const { idempotency } = settings
  const canStoreResult = idempotency !== undefined && callId !== undefined && call.principal !== undefined
  if (!canStoreResult || hasEffects !== true) return run()
  const journal = runStart?.journal
  const pendingEffectsId = journal === undefined ? callId : deriveEffectsId(journal, runStart?.responses)
  return mapAwaitable(pendingEffectsId, (id) =>
    answerFromStore(idempotency, { name, key: `mcp-result:${id}`, run }, request),
  )
}

interface KeyedRun {
  readonly name: string
  /** Names the call, its caller and its answers. */
  readonly key: string
  readonly run: () => Awaitable<JsonObject>
}

/** Milliseconds for which a result is answered again: longer than clients retry. */
const storedResultTtlMs = 600_000

/**
 * Of two that run at the same time, the result of the first to end is the answer of both. A store that fails costs no
 * call anything.
 */
async function answerFromStore(
  options: IdempotencyOptions,
  keyedRun: KeyedRun,
  request: RequestState,
): Promise<JsonObject> {
  const { store } = options
  const readStoredResult = async (): Promise<JsonObject | undefined> =>
    parseJsonObject((await tryStoreOperation(() => store.get(keyedRun.key), request, keyedRun)) ?? '')
  const storedResult = await readStoredResult()
  if (storedResult !== undefined) return storedResult
  const result = await keyedRun.run()
  if (!isWholeAnswer(result, request)) return result
  const text = JSON.stringify(result)
  if (text.length > request.settings.maxStoredResultCharacters) return result
  const wasAdded = await tryStoreOperation(
    () => callerStoreOf(store, request).add(keyedRun.key, text, storedResultTtlMs),
    request,
    keyedRun,
  )
  return wasAdded === false ? ((await readStoredResult()) ?? result) : result
}

/** Returns false for a result that asks, and for one that an extension has to add to whenever it is answered. */
function isWholeAnswer({ resultType }: JsonObject, { call }: RequestState): boolean {
  const isComplete = resultType === undefined || resultType === 'complete'
  return isComplete && call.context.get(extendsResultKey)?.() !== true
}

/** No caller's results take the place of another's. */
function callerStoreOf(store: StateStore, { callerKey }: RequestState): StateStore {
  return store.forOwner?.(callerKey) ?? store
}

async function tryStoreOperation<T>(
  operation: () => Promise<T>,
  request: RequestState,
  { name }: KeyedRun,
): Promise<T | undefined> {
  try {
    return await operation()
  } catch (error) {
    reportServerError(error, logContextOf(request, name), request.settings)
    return undefined
  }
}
