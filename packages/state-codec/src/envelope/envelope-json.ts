import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setOwnMember,
  stringifyWellFormed,
} from '@x/core'
import { StateError } from '../state-error.ts'
import type { Envelope, ReplacedValue } from './envelope.ts'

/**
 * Writes an envelope as a JSON array, the content of every token and of every value in a store: the time of sealing,
 * the milliseconds until expiry, and the milliseconds since the start of the flow; then the digest of the binding or
 * null, the value, the audience or null, and the replaced value. Absent items at the end are left out.
 *
 * @param memberNames Member names that are not written into the text. See `TokenContext.memberNames`.
 */
export function stringifyEnvelope(envelope: Envelope, memberNames: readonly string[] = []): string {
  const { at, until, since, aud, bind, replaces, value } = envelope
  // Concatenation costs half as much as `JSON.stringify`, and is safe here: times are finite and a digest needs no
  // escapes.
  const bindingText = bind === undefined ? 'null' : `"${bind}"`
  const valueText = stringifyWellFormed(packMembers(value, memberNames))
  const text = `[${at},${shortestNumber(until - at)},${at - since},${bindingText},${valueText}`
  if (aud === undefined && replaces === undefined) return `${text}]`
  const audienceText = JSON.stringify(aud ?? null)
  if (replaces === undefined) return `${text},${audienceText}]`
  return `${text},${audienceText},${JSON.stringify([replaces.key, replaces.at])}]`
}

/** An hour is `36e5`, which every JSON parser reads as 3600000. */
function shortestNumber(value: number): string {
  return value !== 0 && value % 1e5 === 0 ? `${value / 1e5}e5` : String(value)
}

/**
 * Reads what {@link stringifyEnvelope} wrote.
 *
 * @throws StateError with `malformed` for any other text.
 */
export function parseEnvelope(text: string, memberNames: readonly string[] = []): Envelope {
  const items = parseJson(text)
  const [at, ttlMs, ageMs, bind = null, value, aud = null, replaces] = isJsonArray(items) ? items : []
  if (value === undefined) throw malformedEnvelopeError()
  const sealedAt = requireNumber(at)
  return {
    at: sealedAt,
    until: sealedAt + requireNumber(ttlMs),
    since: sealedAt - requireNumber(ageMs),
    bind: toOptionalText(bind),
    value: unpackMembers(value, memberNames),
    aud: toOptionalText(aud),
    replaces: replaces === undefined ? undefined : toReplacedValue(replaces),
  }
}

/**
 * Leaves the given member names out. For an object, the first item is a number whose bits mark the names that the
 * object has; the values of these members follow in the order of the names, and then an object with all other members,
 * if there are any. For any other value, the array has null and the value.
 */
function packMembers(value: JsonValue, memberNames: readonly string[]): JsonValue {
  if (memberNames.length === 0) return value
  if (!isJsonObject(value)) return [null, value]
  let nameBits = 0
  const packedValues: JsonValue[] = []
  for (let index = 0; index < memberNames.length; index++) {
    const name = memberNames[index] ?? ''
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === undefined) continue
    nameBits += 2 ** index
    packedValues.push(member)
  }
  const otherMembers = otherMembersOf(value, memberNames)
  return otherMembers === undefined ? [nameBits, ...packedValues] : [nameBits, ...packedValues, otherMembers]
}

function otherMembersOf(value: JsonObject, memberNames: readonly string[]): JsonObject | undefined {
  let otherMembers: Record<string, JsonValue> | undefined
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (member === undefined || memberNames.includes(name)) continue
    otherMembers ??= {}
    setOwnMember(otherMembers, name, member)
  }
  return otherMembers
}

function unpackMembers(packed: JsonValue, memberNames: readonly string[]): JsonValue {
  if (memberNames.length === 0) return packed
  if (!isJsonArray(packed)) throw malformedEnvelopeError()
  const [nameBits, firstValue] = packed
  if (nameBits === null && firstValue !== undefined) return firstValue
  // A bit beyond the list marks a name that this instance does not have.
  if (typeof nameBits !== 'number' || nameBits >= 2 ** memberNames.length) throw malformedEnvelopeError()
  return unpackValues(nameBits, packed, memberNames)
}

function unpackValues(nameBits: number, packed: readonly JsonValue[], memberNames: readonly string[]): JsonObject {
  const value: Record<string, JsonValue> = {}
  let at = 1
  for (let index = 0; index < memberNames.length; index++) {
    if (Math.floor(nameBits / 2 ** index) % 2 === 1) setOwnMember(value, memberNames[index] ?? '', packed[at++] ?? null)
  }
  const otherMembers = packed[at]
  if (!isJsonObject(otherMembers)) return value
  for (const name of Object.keys(otherMembers)) setOwnMember(value, name, otherMembers[name] ?? null)
  return value
}

function requireNumber(item: JsonValue | undefined): number {
  // JSON has no NaN, but 1e999 is infinite.
  if (typeof item !== 'number' || !Number.isFinite(item)) throw malformedEnvelopeError()
  return item
}

function toOptionalText(item: JsonValue): string | undefined {
  if (item !== null && typeof item !== 'string') throw malformedEnvelopeError()
  return item ?? undefined
}

function toReplacedValue(item: JsonValue): ReplacedValue {
  const [key, at] = isJsonArray(item) ? item : []
  if (typeof key !== 'string') throw malformedEnvelopeError()
  return { key, at: requireNumber(at) }
}

function malformedEnvelopeError(): StateError {
  return new StateError('malformed', 'The content is not a state: another program may use the same key')
}
