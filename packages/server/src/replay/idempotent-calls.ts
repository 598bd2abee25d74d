import { parseJsonObject, storeOfOwner } from '@x/core'
import { errorCodes, type JsonObject, type JsonValue, McpError, projectMetaKeys } from '@x/schema'
import { extendsResultKey, principalIdentityOf } from '@x/exchange/internal'
import type { StateStore } from '@x/state-codec'
import type { Awaitable } from '../request/awaitable.ts'
import { fingerprintOf, stringifySorted, uuidOf } from './call-identity.ts'
import type { Handler } from './handler.ts'
import type { Run } from './run.ts'
import { type ServedRequest, sessionIdOf } from './served-request.ts'

/** 22 characters of Base64url hold 128 random bits or more. */
const idempotencyKeyPattern = /^[A-Za-z0-9_-]{22}$/

/**
 * Assigns a call the id that its client's idempotency key stands for, and returns the store in which a repeated call
 * finds its result. Undefined without a store, an idempotency key or an authenticated caller, and for a method that only
 * reads: then the call just runs. Throws `McpError` for an invalid key.
 */
export async function identifyCall<T>(
  { hasEffects }: Handler<T>,
  request: ServedRequest,
): Promise<StateStore | undefined> {
  const key = request.meta[projectMetaKeys.idempotencyKey]
  if (key === undefined) return undefined
  request.callId = await deriveCallId(key, request)
  const { settings, call } = request
  return hasEffects === true && call.principal !== undefined ? settings.idempotency?.store : undefined
}

/**
 * Derives the call's id, so that a call that is sent again has the same one. Principal, session, method and params go
 * into it too: no client can reach another's call, even with its key.
 */
async function deriveCallId(key: JsonValue, request: ServedRequest): Promise<string> {
  if (typeof key !== 'string' || !idempotencyKeyPattern.test(key)) {
    const message = `_meta["${projectMetaKeys.idempotencyKey}"] must be a random id of 22 characters of Base64url`
    throw new McpError(errorCodes.invalidParams, message)
  }
  const { _meta, inputResponses: _responses, requestState: _state, ...asked } = request.params
  const { method, call } = request
  const sessionId = sessionIdOf(request)
  const identity = ['call', key, principalIdentityOf(call.principal), method, asked]
  // Without a session, the array has no element for it: earlier versions of this package must derive the same id.
  const text = stringifySorted(sessionId === undefined ? identity : [...identity, sessionId])
  return uuidOf(await fingerprintOf(text))
}

/** Milliseconds for which a result is stored: longer than clients retry. */
// limit: age of a stored result | ms | a result that is kept for a repeated call | deleted
const storedResultTtlMs = 600_000

/**
 * Answers a repeated call with its stored result, or calls `runCall` and stores the result, unless it asks the client or
 * hands the call off. Of two equal calls that run at the same time, both return the result of the one that ends first. A
 * failing store does not fail the call.
 */
export async function answerOnce(
  store: StateStore,
  run: Run,
  runCall: () => Awaitable<JsonObject>,
): Promise<JsonObject> {
  const { request, existingJournal } = run
  const id = existingJournal === undefined ? request.callId : await existingJournal.effectsId()
  const key = `mcp-result:${id}`
  const storedResult = await readStoredResult(run, store, key)
  if (storedResult !== undefined) return storedResult
  const result = await runCall()
  if (!isWholeAnswer(result, request)) return result
  const text = JSON.stringify(result)
  if (text.length > request.settings.maxStoredResultCharacters) return result
  // Each caller has its own part of the store, so that one caller's results do not displace those of another.
  const wasAdded = await tryStoreOperation(run, () =>
    storeOfOwner(store, request.callerKey).add(key, text, storedResultTtlMs),
  )
  return wasAdded === false ? ((await readStoredResult(run, store, key)) ?? result) : result
}

async function readStoredResult(run: Run, store: StateStore, key: string): Promise<JsonObject | undefined> {
  return parseJsonObject((await tryStoreOperation(run, () => store.get(key))) ?? '')
}

/**
 * True if a stored copy can answer a repeated call. It cannot if the result asks the client, or if an extension adds
 * values to the result of every repetition.
 */
function isWholeAnswer({ resultType }: JsonObject, { call }: ServedRequest): boolean {
  const isComplete = resultType === undefined || resultType === 'complete'
  return isComplete && call.context.get(extendsResultKey)?.() !== true
}

async function tryStoreOperation<T>(run: Run, operation: () => Promise<T>): Promise<T | undefined> {
  try {
    return await operation()
  } catch (error) {
    run.report(error)
    return undefined
  }
}
