import { isJsonArray, type JsonValue } from '@x/core'
import { StateError } from '../state-error.ts'
import { decodeCbor } from './decode-cbor.ts'
import { encodeCbor } from './encode-cbor.ts'
import type { Envelope } from './envelope.ts'

/** The first item of the array that an envelope becomes. Another layout gets another number. */
const layoutVersion = 1

/**
 * Returns an envelope as a CBOR array, for encrypted tokens: the version, the time of sealing, the time until
 * expiry and since the start of the flow, the binding or null, the value, and the audience if there is one.
 */
export function encodeEnvelope(
  { at, until, since, aud, bind, value }: Envelope,
  memberNames: readonly string[],
): Uint8Array {
  const items = [layoutVersion, at, until - at, at - since, bind ?? null, value]
  return encodeCbor(aud === undefined ? items : [...items, aud], memberNames)
}

/**
 * Decodes the bytes of {@link encodeEnvelope}.
 *
 * @throws StateError with `malformed` for any other bytes.
 */
export function decodeEnvelope(bytes: Uint8Array, memberNames: readonly string[]): Envelope {
  const items = decodeCbor(bytes, memberNames)
  const [itemVersion, sealedAt, ttlMs, ageMs, bind = null, value, aud = null] = isJsonArray(items) ? items : []
  if (itemVersion !== layoutVersion)
    throw new StateError('malformed', 'The content has a layout that this version lacks')
  if (value === undefined) throw malformedEnvelopeError()
  const at = requireNumber(sealedAt)
  return {
    at,
    until: at + requireNumber(ttlMs),
    since: at - requireNumber(ageMs),
    bind: toOptionalText(bind),
    aud: toOptionalText(aud),
    value,
  }
}

function requireNumber(item: JsonValue | undefined): number {
  if (typeof item !== 'number') throw malformedEnvelopeError()
  return item
}

function toOptionalText(item: JsonValue): string | undefined {
  if (item !== null && typeof item !== 'string') throw malformedEnvelopeError()
  return item ?? undefined
}

function malformedEnvelopeError(): StateError {
  return new StateError('malformed', 'The content is not a state: another program may use the same key')
}
