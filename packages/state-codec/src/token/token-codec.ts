import { claimRules, lifetimeOf, checkPurpose } from '../claims/claim-rules.ts'
import { bindingDigest, checkToken, readEnvelope, writeEnvelope } from '../claims/envelope.ts'
import { largestEntries } from '../claims/largest-entries.ts'
import type { JsonValue } from '../json.ts'
import type { ClaimOptions, StateCodec } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { decodeBase64url } from './base64url.ts'
import { createKeyRing, type KeyRing, type TokenKind } from './key-ring.ts'
import { type KeyInput, parseKeys } from './keys.ts'
import { isPending, type Platform } from './platform.ts'

/** The options of a codec with keys. */
export interface KeyedOptions extends ClaimOptions {
  /**
   * The first key makes tokens, all of them open. The same, in any order that a rotation needs, on every instance. An
   * environment variable that is not set is refused, and named by its place.
   */
  readonly keys: readonly (KeyInput | undefined)[]
}

/** The largest token by default, in bytes. */
export const defaultMaxBytes = 32 * 1024

/** The lengths in characters of a token's segments; `undefined` for any length. */
const segmentLengths: Readonly<Record<TokenKind, readonly (number | undefined)[]>> = {
  // The header, no encrypted key, a nonce of 12 bytes, the content, a tag of 16 bytes.
  sealed: [undefined, 0, 16, undefined, 22],
  // The header, the content, a MAC of 32 bytes.
  signed: [undefined, undefined, 43],
}

/** A codec whose tokens carry the value under keys, on a platform. */
export function createTokenCodec(kind: TokenKind, options: KeyedOptions, platform: Platform): StateCodec {
  const rules = claimRules(options, defaultMaxBytes)
  const ring = createKeyRing(parseKeys(options.keys), kind, platform)
  const random = options.random ?? platform.random
  const form = { kind, maxBytes: rules.maxBytes, platform }
  return {
    lifetimeMs: lifetimeOf(rules),
    async seal(value, claims) {
      const digest = bindingDigest(claims, platform.digest)
      const bind = isPending(digest) ? await digest : digest
      const { text } = writeEnvelope(value, claims, { rules, bind })
      const keys = ring.purposeKeys(claims.purpose)
      const { first } = isPending(keys) ? await keys : keys
      const token = first.protect(text, random)
      return admitSize(isPending(token) ? await token : token, value, rules.maxBytes)
    },
    async open(token, claims) {
      const { purpose } = claims
      checkPurpose(purpose)
      const segments = segmentsOf(token, form)
      const [header = ''] = segments
      const keys = ring.purposeKeys(purpose)
      const { first, byHeader } = isPending(keys) ? await keys : keys
      const cipher = byHeader.get(header)
      // An unknown header costs what a known one does: time must not tell which keys are still in the ring.
      const recovered = (cipher ?? first).recover(segments)
      const text = isPending(recovered) ? await recovered : recovered
      if (cipher === undefined) throw await headerFailure(header, purpose, ring)
      if (text === undefined) throw new StateError('forged', 'It was altered, or made with another key of the same id')
      const digest = bindingDigest(claims, platform.digest)
      const bind = isPending(digest) ? await digest : digest
      return readEnvelope(text, claims, { rules, bind })
    },
  }
}

/** @throws StateUsageError when a token is past the bound, naming what makes it so. */
export function admitSize(token: string, value: JsonValue, maxBytes: number): string {
  if (token.length <= maxBytes) return token
  const entries = largestEntries(value)
  throw new StateUsageError(
    'too_large',
    `The state makes a token of ${token.length} bytes, the most is ${maxBytes}. The largest entries: ${entries}. Carry less, or use stored()`,
  )
}

/** The form of a codec's tokens. */
interface TokenForm {
  readonly kind: TokenKind
  readonly maxBytes: number
  readonly platform: Platform
}

/** Takes a token apart that looks as one must before any key is tried; all of it is the sender's own, so it may fail at once. */
function segmentsOf(token: string, { kind, maxBytes, platform }: TokenForm): readonly string[] {
  checkToken(token)
  if (token.length > maxBytes) {
    throw new StateError('too_large', `It has ${token.length} bytes, the most is ${maxBytes}`)
  }
  const lengths = segmentLengths[kind]
  // One more than there may be shows that there are too many.
  const segments = token.split('.', lengths.length + 1)
  let fits = segments.length === lengths.length
  // The header, at 0, is compared with those that the keys have, and needs no look of its own.
  for (let at = 1; fits && at < lengths.length; at++) {
    const [segment = '', length] = [segments[at], lengths[at]]
    fits = (length === undefined || segment.length === length) && platform.isCanonicalBase64url(segment)
  }
  if (fits) return segments
  throw new StateError('malformed', `It is not the form of a ${kind} token: truncated, or encoded in another way`)
}

/** Why no key has this header. Nothing in it is believed: it only gives the refusal a name. */
async function headerFailure(header: string, purpose: string, ring: KeyRing): Promise<StateError> {
  const parsed = parseHeader(header)
  if (parsed === undefined) return new StateError('malformed', 'Its header is not that of a state token')
  if (!(await ring.knows(parsed.kid))) {
    const hint = 'it was removed, or the instances do not have the same keys'
    return new StateError('unknown_key', `No key has the id ${JSON.stringify(parsed.kid.slice(0, 64))}: ${hint}`)
  }
  if (parsed.typ !== purpose) {
    return new StateError(
      'purpose',
      `It was made for ${JSON.stringify(parsed.typ.slice(0, 64))}, and was opened for "${purpose}"`,
    )
  }
  return new StateError('forged', 'Its header names a known key and was not written by this codec')
}

function parseHeader(header: string): { readonly kid: string; readonly typ: string } | undefined {
  const bytes = header.length > 2048 ? undefined : decodeBase64url(header)
  if (bytes === undefined) return undefined
  try {
    const members = new Map<string, unknown>(Object.entries(Object(JSON.parse(new TextDecoder().decode(bytes)))))
    const kid = members.get('kid')
    const typ = members.get('typ')
    return typeof kid === 'string' && typeof typ === 'string' ? { kid, typ } : undefined
  } catch {
    return undefined
  }
}
