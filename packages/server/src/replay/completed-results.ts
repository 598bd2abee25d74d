import { parseJsonObject, storeOfOwner } from '@x/core'
import type { JsonObject } from '@x/schema'
import { extendsResultKey } from '@x/exchange/internal'
import type { StateStore } from '@x/state-codec'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import type { ServedRequest } from './served-request.ts'
import type { Handler } from './run.ts'
import type { RunJournal } from './run-journal.ts'

/**
 * Answers a repeated call with its stored result, or runs the call and stores the result. This needs a store, an
 * idempotency key and an authenticated caller. Without one of them, or for a method that only reads, the call runs and
 * nothing is stored. A result that asks the client or hands the call off is not stored.
 */
export function answerOnce<T>(
  handler: Handler<T>,
  request: ServedRequest,
  journal: RunJournal | undefined,
  run: () => Awaitable<JsonObject>,
): Awaitable<JsonObject> {
  const { settings, callId } = request
  const { idempotency } = settings
  if (idempotency === undefined || callId === undefined || !mayStoreResult(handler, request)) return run()
  return mapAwaitable(journal === undefined ? callId : journal.effectsId(), (id) =>
    answerFromStore({ store: idempotency.store, key: `mcp-result:${id}`, request, name: handler.name }, run),
  )
}

/** Returns true if a server with a store of results stores the result of a call, and may find an earlier one. */
export function mayStoreResult<T>({ hasEffects }: Handler<T>, { call, callId }: ServedRequest): boolean {
  return callId !== undefined && call.principal !== undefined && hasEffects === true
}

/** The store and the key of the result of one call. */
interface StoredResult {
  readonly store: StateStore
  /** The key is derived from the call, its caller and its answers. */
  readonly key: string
  readonly request: ServedRequest
  /** The name of the handler. */
  readonly name: string
}

/** Milliseconds for which a result is stored, which is longer than clients retry. */
const storedResultTtlMs = 600_000

/**
 * Returns the stored result of a call, or runs the call and stores its result. If two equal calls run at the same time,
 * both return the result of the call that ends first. A store that fails does not fail the call.
 */
async function answerFromStore(stored: StoredResult, run: () => Awaitable<JsonObject>): Promise<JsonObject> {
  const { store, key, request } = stored
  const storedResult = await readStoredResult(stored)
  if (storedResult !== undefined) return storedResult
  const result = await run()
  if (!isWholeAnswer(result, request)) return result
  const text = JSON.stringify(result)
  if (text.length > request.settings.maxStoredResultCharacters) return result
  const wasAdded = await tryStoreOperation(stored, () =>
    callerStoreOf(store, request).add(key, text, storedResultTtlMs),
  )
  return wasAdded === false ? ((await readStoredResult(stored)) ?? result) : result
}

async function readStoredResult(stored: StoredResult): Promise<JsonObject | undefined> {
  return parseJsonObject((await tryStoreOperation(stored, () => stored.store.get(stored.key))) ?? '')
}

/**
 * Returns true if a stored copy of the result can answer a repeated call. Returns false if the result asks the client,
 * or if an extension adds values to the result of every repetition.
 */
function isWholeAnswer({ resultType }: JsonObject, { call }: ServedRequest): boolean {
  const isComplete = resultType === undefined || resultType === 'complete'
  return isComplete && call.context.get(extendsResultKey)?.() !== true
}

/**
 * Returns the part of the store that belongs to the caller, so that one caller's results do not displace those of
 * another.
 */
function callerStoreOf(store: StateStore, { callerKey }: ServedRequest): StateStore {
  return storeOfOwner(store, callerKey)
}

async function tryStoreOperation<T>(
  { request, name }: StoredResult,
  operation: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await operation()
  } catch (error) {
    reportServerError(error, logContextOf(request, name), request.settings)
    return undefined
  }
}
