import {
  compileClaimRules,
  maxLifetimeOf,
  checkPurpose,
  digestBinding,
  checkToken,
  createEnvelope,
  type Envelope,
  openEnvelope,
} from '../claims/envelope.ts'
import { decodeEnvelope, encodeEnvelope } from '../claims/envelope-cbor.ts'
import { parseEnvelope, stringifyEnvelope } from '../claims/envelope-json.ts'
import { describeLargestEntries } from '../claims/largest-entries.ts'
import type { JsonValue, ClaimOptions, StateCodec } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { type KeyInput, parseKeys, type RingKey } from './keys.ts'
import { isPromise, type CryptoProvider, type Cipher, type CipherKey, type ProtectedHeader } from './crypto-provider.ts'

/** Options of a codec with keys. */
export interface KeyedOptions extends ClaimOptions {
  /**
   * The keys: the first one seals, all of them open. Every instance has the same keys, in any order that a rotation
   * needs. An unset environment variable is rejected with its index.
   */
  readonly keys: readonly (KeyInput | undefined)[]
}

/** The default size limit of a token, in bytes. */
export const defaultMaxBytes = 32 * 1024

/** The lengths in characters of a token's segments; `undefined` for any length. */
const segmentLengths: Readonly<Record<TokenKind, readonly (number | undefined)[]>> = {
  // The header, no encrypted key, a nonce of 12 bytes, the content, a tag of 16 bytes.
  sealed: [undefined, 0, 16, undefined, 22],
  // The header, the content, a MAC of 32 bytes.
  signed: [undefined, undefined, 43],
}

/** The form of a token's content: JSON where people may read it, and otherwise CBOR, which is half as long. */
interface ContentFormat {
  readonly write: (envelope: Envelope, names: readonly string[]) => Uint8Array
  readonly read: (content: Uint8Array, names: readonly string[]) => Envelope
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const contentFormats: Readonly<Record<TokenKind, ContentFormat>> = {
  sealed: { write: encodeEnvelope, read: decodeEnvelope },
  signed: {
    write: (envelope) => encoder.encode(stringifyEnvelope(envelope)),
    read: (content) => parseEnvelope(decoder.decode(content)),
  },
}

/** The reasons why a token of a known header does not open. */
const forgedDetails: Readonly<Record<TokenKind, string>> = {
  sealed: 'It was altered, made for another purpose, or made with another key of the same id',
  signed: 'It was altered, or made with another key of the same id',
}

/** Creates a codec that seals values into tokens with keys. */
export function createTokenCodec(kind: TokenKind, options: KeyedOptions, provider: CryptoProvider): StateCodec {
  const rules = compileClaimRules(options, defaultMaxBytes)
  const keyRing = createKeyRing(parseKeys(options.keys), kind, provider)
  const random = options.random ?? provider.random
  const tokenForm = { kind, maxBytes: rules.maxBytes, provider }
  const format = contentFormats[kind]
  return {
    lifetimeMs: maxLifetimeOf(rules),
    async seal(value, claims) {
      const digest = digestBinding(claims, provider.digest)
      const bind = isPromise(digest) ? await digest : digest
      const content = format.write(createEnvelope(value, claims, { rules, bind }), claims.names ?? [])
      const keys = keyRing.purposeKeys(claims.purpose)
      const { first } = isPromise(keys) ? await keys : keys
      const token = first.seal(content, random)
      return checkTokenSize(isPromise(token) ? await token : token, value, rules.maxBytes)
    },
    async open(token, claims) {
      const { purpose } = claims
      checkPurpose(purpose)
      const segments = splitSegments(token, tokenForm)
      const [header = ''] = segments
      const keys = keyRing.purposeKeys(purpose)
      const { first, byHeader } = isPromise(keys) ? await keys : keys
      const cipher = byHeader.get(header)
      // An unknown header costs as much time as a known one: timing must not reveal which keys are in the ring.
      const opening = (cipher ?? first).open(segments)
      const content = isPromise(opening) ? await opening : opening
      if (cipher === undefined) throw await explainUnknownHeader(header, purpose, keyRing)
      if (content === undefined) throw new StateError('forged', forgedDetails[kind])
      const envelope = format.read(content, claims.names ?? [])
      const digest = digestBinding(claims, provider.digest)
      const bind = isPromise(digest) ? await digest : digest
      return openEnvelope(envelope, claims, { rules, bind })
    },
  }
}

/** @throws StateUsageError when a token exceeds the limit; the message names the largest entries. */
export function checkTokenSize(token: string, value: JsonValue, maxBytes: number): string {
  if (token.length <= maxBytes) return token
  const entries = describeLargestEntries(value)
  throw new StateUsageError(
    'too_large',
    `The state makes a token of ${token.length} bytes, the most is ${maxBytes}. The largest entries: ${entries}. Carry less, or use stored()`,
  )
}

/** The expected form of a codec's tokens. */
interface TokenForm {
  readonly kind: TokenKind
  readonly maxBytes: number
  readonly provider: CryptoProvider
}

/**
 * Splits a token into its segments after checking their form, before any key is tried. It may fail fast: the token is
 * the sender's own.
 */
function splitSegments(token: string, { kind, maxBytes, provider }: TokenForm): readonly string[] {
  checkToken(token)
  if (token.length > maxBytes) {
    throw new StateError('too_large', `It has ${token.length} bytes, the most is ${maxBytes}`)
  }
  const lengths = segmentLengths[kind]
  // One segment more than expected is enough to detect too many.
  const segments = token.split('.', lengths.length + 1)
  let hasExpectedForm = segments.length === lengths.length
  // The header, at 0, is compared with the headers of the keys, and needs no check of its own.
  for (let at = 1; hasExpectedForm && at < lengths.length; at++) {
    const [segment = '', length] = [segments[at], lengths[at]]
    hasExpectedForm = (length === undefined || segment.length === length) && provider.isCanonicalBase64url(segment)
  }
  if (hasExpectedForm) return segments
  throw new StateError('malformed', `It is not a ${kind} token: truncated, or encoded in another way`)
}

/** Returns the reason why no key has this header. Its content is untrusted and only selects the error code. */
async function explainUnknownHeader(header: string, purpose: string, keyRing: KeyRing): Promise<StateError> {
  const parsedHeader = parseHeader(header)
  if (parsedHeader === undefined) return new StateError('malformed', 'Its header is not the header of a state token')
  if (!(await keyRing.knows(parsedHeader.kid))) {
    const hint = 'it was removed, or the instances do not have the same keys'
    return new StateError('unknown_key', `No key has the id ${JSON.stringify(parsedHeader.kid.slice(0, 64))}: ${hint}`)
  }
  if (parsedHeader.typ !== undefined && parsedHeader.typ !== purpose) {
    return new StateError(
      'purpose',
      `It was made for ${JSON.stringify(parsedHeader.typ.slice(0, 64))}, and was opened for "${purpose}"`,
    )
  }
  return new StateError('forged', 'Its header names a known key and was not written by this codec')
}

function parseHeader(header: string): { readonly kid: string; readonly typ: string | undefined } | undefined {
  const bytes = header.length > 2048 ? undefined : decodeBase64url(header)
  if (bytes === undefined) return undefined
  try {
    const members = new Map<string, unknown>(Object.entries(Object(JSON.parse(new TextDecoder().decode(bytes)))))
    const kid = members.get('kid')
    const typ = members.get('typ')
    return typeof kid === 'string' ? { kid, typ: typeof typ === 'string' ? typ : undefined } : undefined
  } catch {
    return undefined
  }
}

/** The two kinds of protected tokens; keys are derived under this name. */
type TokenKind = 'sealed' | 'signed'

/** The ciphers of a ring for one purpose. */
interface PurposeKeys {
  /** The cipher of the first key, which seals. */
  readonly first: Cipher
  /** The ciphers of all keys, by their encoded header. */
  readonly byHeader: ReadonlyMap<string, Cipher>
}

/** A ring of keys. */
interface KeyRing {
  purposeKeys(purpose: string): Promise<PurposeKeys> | PurposeKeys
  /** Tells if the ring contains a key of this id. */
  knows(id: string): Promise<boolean>
}

/** The number of purposes whose ciphers are cached: some programs derive purposes from peer input. */
const maxPurposes = 256

/** Creates a key ring that derives and caches its ciphers per purpose. */
function createKeyRing(keys: readonly RingKey[], kind: TokenKind, provider: CryptoProvider): KeyRing {
  let named: Promise<ReadonlyMap<string, Uint8Array>> | undefined
  const ready = new Map<string, PurposeKeys>()
  const resolveKeyIdsOnce = (): Promise<ReadonlyMap<string, Uint8Array>> => {
    named ??= resolveKeyIds(keys, provider)
    return named
  }
  const derivePurposeKeys = async (purpose: string): Promise<PurposeKeys> => {
    const derivedKeys = await deriveKeys(await resolveKeyIdsOnce(), { kind, purpose }, provider)
    const [oldest] = ready.keys()
    if (ready.size >= maxPurposes && oldest !== undefined) ready.delete(oldest)
    ready.set(purpose, derivedKeys)
    return derivedKeys
  }
  return {
    purposeKeys: (purpose) => ready.get(purpose) ?? derivePurposeKeys(purpose),
    knows: async (id) => (await resolveKeyIdsOnce()).has(id),
  }
}

async function resolveKeyIds(
  keys: readonly RingKey[],
  provider: CryptoProvider,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const named = new Map<string, Uint8Array>()
  for (const { id, secret } of keys) {
    const digest = await provider.digest(`x/state-codec key id ${encodeBase64url(secret)}`, 'base64url')
    // Eight Base64url characters are six bytes.
    const name = id ?? digest.slice(0, 8)
    if (named.has(name)) throw new StateUsageError('key', `Two keys have the id "${name}": give one of them another`)
    named.set(name, secret)
  }
  return named
}

async function deriveKeys(
  named: ReadonlyMap<string, Uint8Array>,
  { kind, purpose }: { readonly kind: TokenKind; readonly purpose: string },
  provider: CryptoProvider,
): Promise<PurposeKeys> {
  const make = kind === 'sealed' ? provider.createEncryption : provider.createSigning
  const byHeader = new Map<string, Cipher>()
  for (const [id, secret] of named) {
    const header = protectedHeader(kind, id, purpose)
    const from: CipherKey = { secret, info: `${kind} ${purpose}`, header }
    byHeader.set(encodeBase64url(new TextEncoder().encode(JSON.stringify(header))), await make(from))
  }
  const [first] = byHeader.values()
  if (first === undefined) throw new StateUsageError('key', 'keys is empty: give at least one')
  return { first, byHeader }
}

function protectedHeader(kind: TokenKind, kid: string, purpose: string): ProtectedHeader {
  return kind === 'sealed' ? { alg: 'dir', enc: 'A256GCM', kid } : { alg: 'HS256', kid, typ: purpose }
}
