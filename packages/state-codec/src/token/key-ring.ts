import { StateUsageError } from '../state-error.ts'
import { encodeBase64url } from './base64url.ts'
import type { RingKey } from './keys.ts'
import type { Cipher, CipherKey, Platform, ProtectedHeader } from './platform.ts'

/** The two kinds of protected tokens, by the name that keys are derived under. */
export type TokenKind = 'sealed' | 'signed'

/** The ciphers of a ring for one purpose. */
export interface PurposeKeys {
  /** The first key's: it makes the tokens. */
  readonly first: Cipher
  /** Every key's, by the one encoded header that its tokens have. */
  readonly byHeader: ReadonlyMap<string, Cipher>
}

/** A ring of keys. */
export interface KeyRing {
  purposeKeys(purpose: string): Promise<PurposeKeys> | PurposeKeys
  /** Whether a key of this id is in the ring. */
  knows(id: string): Promise<boolean>
}

/** Purposes may be many, and some programs make them from what a peer sends. */
const mostPurposes = 256

/** Derives and keeps the ciphers of a ring, one set a purpose. */
export function createKeyRing(keys: readonly RingKey[], kind: TokenKind, platform: Platform): KeyRing {
  let named: Promise<ReadonlyMap<string, Uint8Array>> | undefined
  const ready = new Map<string, PurposeKeys>()
  const nameOnce = (): Promise<ReadonlyMap<string, Uint8Array>> => {
    named ??= nameKeys(keys, platform)
    return named
  }
  const derive = async (purpose: string): Promise<PurposeKeys> => {
    const derived = await deriveKeys(await nameOnce(), { kind, purpose }, platform)
    const [oldest] = ready.keys()
    if (ready.size >= mostPurposes && oldest !== undefined) ready.delete(oldest)
    ready.set(purpose, derived)
    return derived
  }
  return {
    purposeKeys: (purpose) => ready.get(purpose) ?? derive(purpose),
    knows: async (id) => (await nameOnce()).has(id),
  }
}

async function nameKeys(keys: readonly RingKey[], platform: Platform): Promise<ReadonlyMap<string, Uint8Array>> {
  const named = new Map<string, Uint8Array>()
  for (const { id, secret } of keys) {
    const digest = await platform.digest(`x/state-codec key id ${encodeBase64url(secret)}`)
    // Six bytes of it.
    const name = id ?? digest.slice(0, 8)
    if (named.has(name)) throw new StateUsageError('key', `Two keys have the id "${name}": give one of them another`)
    named.set(name, secret)
  }
  return named
}

async function deriveKeys(
  named: ReadonlyMap<string, Uint8Array>,
  { kind, purpose }: { readonly kind: TokenKind; readonly purpose: string },
  platform: Platform,
): Promise<PurposeKeys> {
  const make = kind === 'sealed' ? platform.sealing : platform.signing
  const byHeader = new Map<string, Cipher>()
  for (const [id, secret] of named) {
    const header = headerOf(kind, id, purpose)
    const from: CipherKey = { secret, info: `${kind} ${purpose}`, header }
    byHeader.set(encodeBase64url(new TextEncoder().encode(JSON.stringify(header))), await make(from))
  }
  const [first] = byHeader.values()
  if (first === undefined) throw new StateUsageError('key', 'keys is empty: give at least one')
  return { first, byHeader }
}

function headerOf(kind: TokenKind, kid: string, purpose: string): ProtectedHeader {
  return kind === 'sealed' ? { alg: 'dir', enc: 'A256GCM', kid, typ: purpose } : { alg: 'HS256', kid, typ: purpose }
}
