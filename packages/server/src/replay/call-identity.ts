import { sha256Hex, sha256HexSync, sortMembers } from '@x/core'
import type { InputResponse, JsonObject, JsonValue } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import type { Journal } from './journal.ts'
import { shortenDigits } from './short-id.ts'

/**
 * Derives the id that a call's effects share, such as the idempotency keys of its steps: the call's own id before the
 * first answer, afterwards a digest of that id and the answers. Results of steps are left out. So a call that is sent
 * again with the same answers has the same effects, and an old state that comes with other answers has effects of its
 * own.
 */
export function deriveEffectsId(
  { callId, pastEffectsId, questions }: Pick<Journal, 'callId' | 'pastEffectsId' | 'questions'>,
  responses: ReadonlyMap<string, InputResponse> | undefined,
): Awaitable<string> {
  const answers = Array.from(questions, ([key, { response }]): [string, JsonObject | undefined] => [key, response])
  const answeredEntries = answers.filter(([, response]) => response !== undefined).sort(compareKeys)
  // The casts are safe: these interfaces of the protocol are JSON, which the compiler cannot see.
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

/** A UUID from an effects id and a key, or undefined on platforms that have no synchronous digest. */
export function deriveUuid(pendingEffectsId: Awaitable<string>, key: string): string | undefined {
  const digest = typeof pendingEffectsId === 'string' ? sha256HexSync(`uuid ${pendingEffectsId}/${key}`) : undefined
  return digest === undefined ? undefined : uuidOf(digest.slice(0, digestHexLength))
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b)
}

/** Sorts members by name, so that equal values have equal texts. */
export function stringifySorted(value: JsonValue): string {
  return JSON.stringify(sortMembers(value))
}

/** Makes a UUID of version 8 from a digest; its other bits may have any value (RFC 9562, section 5.8). */
export function uuidOf(digest: string): string {
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) & 3) | 8).toString(16)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20)}`
}

/** Digests a text to the first 16 bytes of its SHA-256, in hexadecimal. */
export function fingerprintOf(text: string): Awaitable<string> {
  return mapAwaitable(sha256Hex(text), (digest) => digest.slice(0, digestHexLength))
}

/**
 * Digests a question or an answer for the journal, so that a later run notices a change. 60 bits are enough: the call's
 * id is part of the digest, and an attacker who prepares two texts with one digest does not know that id.
 */
export function questionFingerprintOf(callId: string, text: string): Awaitable<string> {
  return mapAwaitable(fingerprintOf(`${callId} ${text}`), (digest) => shortenDigits(digest.slice(0, 15)))
}

const digestHexLength = 32
