import { parseJsonObject, storeOfOwner } from '@x/core'
import { errorCodes, type JsonObject, McpError, projectMetaKeys } from '@x/schema'
import { extendsResultKey, principalIdentityOf } from '@x/exchange/internal'
import type { StateStore } from '@x/state-codec'
import type { Awaitable } from '../request/awaitable.ts'
import { fingerprintOf, stringifySorted, uuidOf } from './call-identity.ts'
import type { Handler } from './handler.ts'
import type { Run } from './run.ts'
import { type ServedRequest, sessionIdOf } from './served-request.ts'

/** The form of an idempotency key: 22 characters of Base64url, which contain 128 random bits or more. */
const idempotencyKeyPattern = /^[A-Za-z0-9_-]{22}$/

/**
 * Derives the id of a call from its client's idempotency key, and stores the id in `request.callId`. A call that is
 * sent again has the same id. The id also depends on the principal, session, method and params, so that no client can
 * reach the call of another client. Throws `McpError` for an invalid key. A call without a key has no `callId`.
 */
export async function assignCallId(request: ServedRequest): Promise<void> {
  const key = request.meta[projectMetaKeys.idempotencyKey]
  if (key === undefined) return
  if (typeof key !== 'string' || !idempotencyKeyPattern.test(key)) {
    const message = `_meta["${projectMetaKeys.idempotencyKey}"] must be a random id of 22 characters of Base64url`
    throw new McpError(errorCodes.invalidParams, message)
  }
  const { _meta, inputResponses: _responses, requestState: _state, ...asked } = request.params
  const { method, call } = request
  const sessionId = sessionIdOf(request)
  const identity = ['call', key, principalIdentityOf(call.principal), method, asked]
  // Without a session, the array has no element for it, so that earlier versions of this package derive the same id.
  const text = stringifySorted(sessionId === undefined ? identity : [...identity, sessionId])
  request.callId = uuidOf(await fingerprintOf(text))
}

/**
 * Answers a repeated call with its stored result, or calls `runCall` and stores the result. This needs a store, an
 * idempotency key and an authenticated caller. Without one of them, or for a method that only reads, the call runs and
 * nothing is stored. A result that asks the client or hands the call off is not stored.
 */
export function answerOnce<T>(
  handler: Handler<T>,
  run: Run,
  runCall: () => Awaitable<JsonObject>,
): Awaitable<JsonObject> {
  const { idempotency } = run.request.settings
  return idempotency !== undefined && mayStoreResult(handler, run)
    ? answerFromStore(idempotency.store, run, runCall)
    : runCall()
}

/** Returns true if the server stores the result of a call, and may find an earlier one. */
export function mayStoreResult<T>({ hasEffects }: Handler<T>, { request }: Run): boolean {
  const { settings, callId, call } = request
  return (
    settings.idempotency !== undefined && callId !== undefined && call.principal !== undefined && hasEffects === true
  )
}

/** The store and the key of the result of one call. */
interface StoredResult {
  readonly store: StateStore
  /** The key is derived from the call, its caller and its answers. */
  readonly key: string
  readonly run: Run
}

/** Milliseconds for which a result is stored, which is longer than clients retry. */
// limit: age of a stored result | ms | a result that is kept for a repeated call | deleted
const storedResultTtlMs = 600_000

/**
 * Returns the stored result of a call, or runs the call and stores its result. If two equal calls run at the same time,
 * both return the result of the call that ends first. A store that fails does not fail the call.
 */
async function answerFromStore(store: StateStore, run: Run, runCall: () => Awaitable<JsonObject>): Promise<JsonObject> {
  const { request, existingJournal } = run
  const id = existingJournal === undefined ? request.callId : await existingJournal.effectsId()
  const key = `mcp-result:${id}`
  const stored = { store, key, run }
  const storedResult = await readStoredResult(stored)
  if (storedResult !== undefined) return storedResult
  const result = await runCall()
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

async function tryStoreOperation<T>({ run }: StoredResult, operation: () => Promise<T>): Promise<T | undefined> {
  try {
    return await operation()
  } catch (error) {
    run.report(error)
    return undefined
  }
}
