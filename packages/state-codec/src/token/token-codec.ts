import { BoundedMap, encodeBase64url, type JsonValue, type OptionTable, quoteText, isPromiseLike } from '@x/core'
import {
  codecOptionTable,
  resolveCodecOptions,
  maxLifetimeOf,
  checkPurpose,
  digestBinding,
  checkToken,
  createEnvelope,
  type Envelope,
  openEnvelope,
} from '../envelope/envelope.ts'
import { describeLargestEntries } from '../envelope/largest-entries.ts'
import type { CodecOptions, StateCodec } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { decodeBase64url } from './base64url.ts'
import { type KeyInput, parseKeys, type RingKey } from './keys.ts'
import type { Cipher, CipherKey, CreateCipher, CryptoProvider, ProtectedHeader } from './crypto-provider.ts'

/** Options of a codec with keys. */
export interface KeyedOptions extends CodecOptions {
  /**
   * The first key seals tokens, and every key opens them. All instances must have the same keys; during a rotation,
   * their order may differ. An undefined key, such as an unset environment variable, is rejected with its index. One
   * key is enough for about four billion tokens of one purpose.
   */
  readonly keys: readonly (KeyInput | undefined)[]
}

const keyedOptionTable = { ...codecOptionTable, keys: undefined } satisfies OptionTable<KeyedOptions>

/** Proxies and clients accept texts of this size in a request. */
// limit: token size | bytes | a sealed token | rejected, at sealing and at opening
const maxTokenBytes = 32 * 1024

/** A kind of protected tokens. */
export interface TokenType {
  /** The keys are derived from it. */
  readonly kind: 'sealed' | 'signed'
  /** In characters. `undefined` means any length. */
  readonly segmentLengths: readonly (number | undefined)[]
  readonly createHeader: (kid: string, purpose: string) => ProtectedHeader
  readonly writeContent: (envelope: Envelope, memberNames: readonly string[]) => string
  /** Throws a `StateError` with `malformed` for content that is no envelope. */
  readonly readContent: (content: string, memberNames: readonly string[]) => Envelope
  /** `detail` of the error for a token whose header is known and which does not open. */
  readonly forgedDetail: string
  readonly createCipher: CreateCipher
}

export function createTokenCodec(type: TokenType, options: KeyedOptions, provider: CryptoProvider): StateCodec {
  const codecOptions = resolveCodecOptions(options, keyedOptionTable, `${type.kind}State`)
  const { keyRing, decryptToken } = createTokenReader(type, options.keys, provider)
  const contentCache = createContentCache()

  return {
    lifetimeMs: maxLifetimeOf(codecOptions),
    async seal(value, context) {
      const digestOrPromise = digestBinding(context, provider.digest)
      const bindingDigest = isPromiseLike(digestOrPromise) ? await digestOrPromise : digestOrPromise
      const content = type.writeContent(
        createEnvelope(value, context, { codecOptions, bindingDigest }),
        context.memberNames ?? [],
      )
      const purposeCiphers = keyRing.ciphersFor(context.purpose)
      const { primaryCipher } = isPromiseLike(purposeCiphers) ? await purposeCiphers : purposeCiphers
      const token = primaryCipher.seal(content, provider.random)
      return checkTokenSize(isPromiseLike(token) ? await token : token, value)
    },
    async open(token, context) {
      const { purpose, cacheContent = false } = context
      checkPurpose(purpose)
      const contentOrPromise =
        (cacheContent ? contentCache.get(token, purpose) : undefined) ?? decryptToken(token, purpose)
      const content = isPromiseLike(contentOrPromise) ? await contentOrPromise : contentOrPromise
      if (cacheContent) contentCache.set(token, purpose, content)
      const envelope = type.readContent(content, context.memberNames ?? [])
      const digestOrPromise = digestBinding(context, provider.digest)
      const bindingDigest = isPromiseLike(digestOrPromise) ? await digestOrPromise : digestOrPromise
      return openEnvelope(envelope, context, { codecOptions, bindingDigest })
    },
  }
}

/**
 * Throws a `StateUsageError` for invalid keys. `decryptToken` checks none of the token's context, and rejects with a
 * `StateError` for a token that was not made with a key of the ring for this purpose.
 */
export function createTokenReader(
  type: TokenType,
  keys: KeyedOptions['keys'],
  provider: CryptoProvider,
): {
  readonly keyRing: KeyRing
  decryptToken(token: string, purpose: string): Promise<string>
} {
  const keyRing = createKeyRing(parseKeys(keys), type, provider)
  return {
    keyRing,
    async decryptToken(token, purpose) {
      const segments = splitSegments(token, type, provider)
      const [header = ''] = segments
      const purposeCiphers = keyRing.ciphersFor(purpose)
      const { primaryCipher, cipherByHeader } = isPromiseLike(purposeCiphers) ? await purposeCiphers : purposeCiphers
      const cipher = cipherByHeader.get(header)
      // With an unknown header, the first key is tried, so that the token takes as much time as any other. Otherwise
      // the time would reveal which keys are in the ring.
      const contentOrPromise = (cipher ?? primaryCipher).open(segments)
      const content = isPromiseLike(contentOrPromise) ? await contentOrPromise : contentOrPromise
      if (cipher === undefined) throw await explainUnknownHeader(header, purpose, keyRing)
      if (content === undefined) throw new StateError('forged', type.forgedDetail)
      return content
    },
  }
}

/** About 2 MB in all. Longer tokens are decrypted at every opening. */
// limit: cached contents | count | decrypted contents of session tokens in memory | the token is decrypted again
const maxCachedTokens = 512
const maxCachedTokenLength = 2048

/**
 * Decrypted contents of tokens that arrive with many requests. Entries stay valid, because the keys of a codec never
 * change.
 */
function createContentCache() {
  const contentsByToken = new BoundedMap<string, { readonly purpose: string; readonly content: string }>(
    maxCachedTokens,
  )
  return {
    get(token: string, purpose: string): string | undefined {
      const cachedEntry = contentsByToken.get(token)
      return cachedEntry?.purpose === purpose ? cachedEntry.content : undefined
    },
    set(token: string, purpose: string, content: string): void {
      if (token.length > maxCachedTokenLength || contentsByToken.has(token)) return
      contentsByToken.set(token, { purpose, content })
    },
  }
}

/**
 * Returns the token if it is short enough.
 *
 * @throws StateUsageError for a longer token. The message names the largest entries of its value.
 */
export function checkTokenSize(token: string, value: JsonValue): string {
  if (token.length <= maxTokenBytes) return token
  const entries = describeLargestEntries(value)
  throw new StateUsageError(
    'too_large',
    `The state makes a token of ${token.length} bytes; the limit is ${maxTokenBytes}. The largest entries: ${entries}. Store less in the state, or use storedState()`,
  )
}

/**
 * For a token from a peer.
 *
 * @throws StateError for a token that exceeds the limit.
 */
export function checkReceivedSize(token: string): void {
  if (token.length > maxTokenBytes)
    throw new StateError('too_large', `It has ${token.length} bytes; the limit is ${maxTokenBytes}`)
}

/**
 * Checks the form of a token before any key is tried. That may fail fast, because its time reveals nothing that the
 * sender does not have.
 */
function splitSegments(token: string, type: TokenType, provider: CryptoProvider): readonly string[] {
  checkToken(token)
  checkReceivedSize(token)
  const lengths = type.segmentLengths
  // One segment more than expected is enough to see that there are too many.
  const segments = token.split('.', lengths.length + 1)
  let hasExpectedForm = segments.length === lengths.length
  // The header, at 0, is compared with the headers of the keys, and needs no check of its own.
  for (let at = 1; hasExpectedForm && at < lengths.length; at++) {
    const [segment = '', expectedLength] = [segments[at], lengths[at]]
    hasExpectedForm =
      (expectedLength === undefined || segment.length === expectedLength) && provider.isCanonicalBase64url(segment)
  }
  if (hasExpectedForm) return segments
  throw new StateError('malformed', `It is not a ${type.kind} token: truncated, or encoded in another way`)
}

/** The header's content is untrusted, and only selects the error code. */
async function explainUnknownHeader(header: string, purpose: string, keyRing: KeyRing): Promise<StateError> {
  const parsedHeader = parseHeader(header)
  if (parsedHeader === undefined) return new StateError('malformed', 'Its header is not the header of a state token')
  if (!(await keyRing.hasKeyId(parsedHeader.kid))) {
    const hint = 'it was removed, or the instances do not have the same keys'
    return new StateError('unknown_key', `No key has the id ${quoteText(parsedHeader.kid)}: ${hint}`)
  }
  if (parsedHeader.typ !== undefined && parsedHeader.typ !== purpose) {
    return new StateError('purpose', `It was made for ${quoteText(parsedHeader.typ)}, and was opened for "${purpose}"`)
  }
  return new StateError('forged', 'Its header names a known key and was not written by this codec')
}

/** Not verified yet. */
export function parseHeader(header: string): { readonly kid: string; readonly typ: string | undefined } | undefined {
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

interface PurposeCiphers {
  readonly primaryCipher: Cipher
  readonly cipherByHeader: ReadonlyMap<string, Cipher>
}

type KeyRing = ReturnType<typeof createKeyRing>

/** Limited, because some programs derive purposes from the input of a peer. */
const maxPurposes = 256

function createKeyRing(keys: readonly RingKey[], type: TokenType, provider: CryptoProvider) {
  let secretsByIdPromise: Promise<ReadonlyMap<string, Uint8Array>> | undefined
  const ciphersByPurpose = new BoundedMap<string, PurposeCiphers>(maxPurposes)
  const resolveKeyIdsOnce = (): Promise<ReadonlyMap<string, Uint8Array>> => {
    secretsByIdPromise ??= mapSecretsById(keys, provider)
    return secretsByIdPromise
  }
  const derivePurposeCiphers = async (purpose: string): Promise<PurposeCiphers> => {
    const purposeCiphers = await deriveCiphers(await resolveKeyIdsOnce(), { type, purpose })
    ciphersByPurpose.set(purpose, purposeCiphers)
    return purposeCiphers
  }
  return {
    ciphersFor: (purpose: string): Promise<PurposeCiphers> | PurposeCiphers =>
      ciphersByPurpose.get(purpose) ?? derivePurposeCiphers(purpose),
    hasKeyId: async (id: string): Promise<boolean> => (await resolveKeyIdsOnce()).has(id),
  }
}

async function mapSecretsById(
  keys: readonly RingKey[],
  provider: CryptoProvider,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const secretsById = new Map<string, Uint8Array>()
  for (const { id, secret } of keys) {
    const digest = await provider.digest(`x/state-codec key id ${encodeBase64url(secret)}`)
    // Eight Base64url characters represent six bytes.
    const keyId = id ?? digest.slice(0, 8)
    if (secretsById.has(keyId))
      throw new StateUsageError('key', `Two keys have the id "${keyId}": give one of them another`)
    secretsById.set(keyId, secret)
  }
  return secretsById
}

async function deriveCiphers(
  secretsById: ReadonlyMap<string, Uint8Array>,
  { type, purpose }: { readonly type: TokenType; readonly purpose: string },
): Promise<PurposeCiphers> {
  const cipherByHeader = new Map<string, Cipher>()
  for (const [id, secret] of secretsById) {
    const header = type.createHeader(id, purpose)
    const cipherKey: CipherKey = { secret, info: `${type.kind} ${purpose}`, header }
    cipherByHeader.set(
      encodeBase64url(new TextEncoder().encode(JSON.stringify(header))),
      await type.createCipher(cipherKey),
    )
  }
  const [primaryCipher] = cipherByHeader.values()
  if (primaryCipher === undefined) throw new StateUsageError('key', 'keys is empty: give at least one')
  return { primaryCipher, cipherByHeader }
}
