import { sha256Hex, sha256HexSync } from '@x/core'
import {
  errorCodes,
  type InputResponse,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  McpError,
  projectMetaKeys,
} from '@x/schema'
import { principalIdentityOf } from '@x/schema/internal'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { type RequestState, sessionIdOf } from './served-request.ts'
import type { Journal } from './journal.ts'

/** A random id of 128 bits or more, in Base64url. */
const idempotencyKeyPattern = /^[A-Za-z0-9_-]{22}$/

/**
 * Derives the identity of a call from the idempotency key of its client, and records it in the request. The same call
 * that is sent again has the same identity. Another principal, session, method, target or argument makes it another
 * one, so that no client reaches a call of another. Throws `McpError` for a key of another form. A call without a key
 * has no identity before it is first needed.
 */
export function identifyCall(request: RequestState): Awaitable<void> {
  const key = request.meta[projectMetaKeys.idempotencyKey]
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !idempotencyKeyPattern.test(key)) {
    const message = `_meta["${projectMetaKeys.idempotencyKey}"] must be a random id of 22 characters of Base64url`
    throw new McpError(errorCodes.invalidParams, message)
  }
  const { _meta, inputResponses: _responses, requestState: _state, ...asked } = request.params
  const { method, call } = request
  const sessionId = sessionIdOf(request)
  const identity = ['call', key, principalIdentityOf(call.principal), method, asked]
  // The identity of a call without a session has no such member, so that earlier versions derive the same one.
  const text = stringifySorted(sessionId === undefined ? identity : [...identity, sessionId])
  return mapAwaitable(fingerprintOf(text), (digest) => {
    request.callId = uuidOf(digest)
  })
}

/**
 * Names the effects of a call that follow from what it has been answered by now: its own identity while nothing was
 * answered, and then a digest of it and of the answers. Results of steps do not count: a call that is sent again with
 * the same answers has the same effects, and one state that is sent with other answers has others.
 */
export function deriveEffectsId(
  { callId, pastEffectsId, questions }: Pick<Journal, 'callId' | 'pastEffectsId' | 'questions'>,
  responses: ReadonlyMap<string, InputResponse> | undefined,
): Awaitable<string> {
  const answers = Array.from(questions, ([key, { response }]): [string, JsonObject | undefined] => [key, response])
  const answeredEntries = answers.filter(([, response]) => response !== undefined).sort(compareKeys)
  // Interfaces of the protocol are JSON, which the compiler cannot see.
  const explicitResponseEntries = [...(responses ?? [])].sort(compareKeys) as unknown as JsonValue[]
  if (answeredEntries.length === 0 && explicitResponseEntries.length === 0 && pastEffectsId === undefined) return callId
  const text = stringifySorted([
    'answers',
    callId,
    pastEffectsId ?? null,
    answeredEntries as unknown as JsonValue[],
    explicitResponseEntries,
  ])
  return mapAwaitable(fingerprintOf(text), uuidOf)
}

/** Returns the UUID of a key within these effects, undefined on platforms that have no synchronous digest. */
export function deriveUuid(pendingEffectsId: Awaitable<string>, key: string): string | undefined {
  const digest = typeof pendingEffectsId === 'string' ? sha256HexSync(`uuid ${pendingEffectsId}/${key}`) : undefined
  return digest === undefined ? undefined : uuidOf(digest.slice(0, digestHexLength))
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b)
}

/** Returns JSON with members in the order of their names, so that equal values have equal texts. */
function stringifySorted(value: JsonValue): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(compareKeys)) : member,
  )
}

/** A UUID of version 8, whose bits are the maker's own (RFC 9562, section 5.8). */
function uuidOf(digest: string): string {
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) & 3) | 8).toString(16)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20)}`
}

/**
 * Returns a digest of a question, by which a later run knows that it still asks the same: 16 bytes of SHA-256, as hex.
 */
export function fingerprintOf(text: string): Awaitable<string> {
  return mapAwaitable(sha256Hex(text), (digest) => digest.slice(0, digestHexLength))
}

/** In hexadecimal digits. */
const digestHexLength = 32
