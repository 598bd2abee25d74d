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

/**
 * A call that is about to run. `runStart` is the opened state of a call that continues, and undefined for a new call.
 */
interface CallAttempt {
  readonly runStart?: RunStart | undefined
  readonly run: () => Awaitable<JsonObject>
}

/**
 * Answers a repeated call with its stored result, or runs the call and stores the result. This needs a store, an
 * idempotency key and an authenticated caller. Without one of them, or for a method that only reads, the call runs and
 * nothing is stored. A result that asks the client or hands the call off is not stored.
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
  /** The key in the store. It is derived from the call, its caller and its answers. */
  readonly key: string
  readonly run: () => Awaitable<JsonObject>
}

/** Milliseconds for which a result is stored, which is longer than clients retry. */
const storedResultTtlMs = 600_000

/**
 * Returns the stored result of a call, or runs the call and stores its result. If two equal calls run at the same time,
 * both return the result of the call that ends first. A store that fails does not fail the call.
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

/**
 * Returns true if a stored copy of the result can answer a repeated call. Returns false if the result asks the client,
 * or if an extension adds values to the result of every repetition.
 */
function isWholeAnswer({ resultType }: JsonObject, { call }: RequestState): boolean {
  const isComplete = resultType === undefined || resultType === 'complete'
  return isComplete && call.context.get(extendsResultKey)?.() !== true
}

/**
 * Returns the part of the store that belongs to the caller, so that one caller's results do not displace those of
 * another.
 */
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
