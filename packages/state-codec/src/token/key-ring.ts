import { StateUsageError } from '../state-error.ts'
import { encodeBase64url } from './base64url.ts'
import type { RingKey } from './keys.ts'
import type { Cipher, CipherKey, CryptoProvider, ProtectedHeader } from './crypto-provider.ts'

/** The two kinds of protected tokens; keys are derived under this name. */
export type TokenKind = 'sealed' | 'signed'

/** The ciphers of a ring for one purpose. */
export interface PurposeKeys {
  /** The cipher of the first key, which seals. */
  readonly first: Cipher
  /** The ciphers of all keys, by their encoded header. */
  readonly byHeader: ReadonlyMap<string, Cipher>
}

/** A ring of keys. */
export interface KeyRing {
  purposeKeys(purpose: string): Promise<PurposeKeys> | PurposeKeys
  /** Tells if the ring contains a key of this id. */
  knows(id: string): Promise<boolean>
}

/** The number of purposes whose ciphers are cached: some programs derive purposes from peer input. */
const maxPurposes = 256

/** Creates a key ring that derives and caches its ciphers per purpose. */
export function createKeyRing(keys: readonly RingKey[], kind: TokenKind, provider: CryptoProvider): KeyRing {
  let named: Promise<ReadonlyMap<string, Uint8Array>> | undefined
  const ready = new Map<string, PurposeKeys>()
  const nameOnce = (): Promise<ReadonlyMap<string, Uint8Array>> => {
    named ??= resolveKeyIds(keys, provider)
    return named
  }
  const derive = async (purpose: string): Promise<PurposeKeys> => {
    const derived = await deriveKeys(await nameOnce(), { kind, purpose }, provider)
    const [oldest] = ready.keys()
    if (ready.size >= maxPurposes && oldest !== undefined) ready.delete(oldest)
    ready.set(purpose, derived)
    return derived
  }
  return {
    purposeKeys: (purpose) => ready.get(purpose) ?? derive(purpose),
    knows: async (id) => (await nameOnce()).has(id),
  }
}

async function resolveKeyIds(
  keys: readonly RingKey[],
  provider: CryptoProvider,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const named = new Map<string, Uint8Array>()
  for (const { id, secret } of keys) {
    const digest = await provider.digest(`x/state-codec key id ${encodeBase64url(secret)}`)
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
  return kind === 'sealed' ? { alg: 'dir', enc: 'A256GCM', kid, typ: purpose } : { alg: 'HS256', kid, typ: purpose }
}
