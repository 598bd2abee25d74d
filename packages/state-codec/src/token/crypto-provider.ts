import type { DigestFunction } from '../claims/envelope.ts'

/**
 * The protected header of a token: the key's id, and the purpose where people read the token. The key is derived from
 * the purpose in either case.
 */
export type ProtectedHeader =
  | { readonly alg: 'dir'; readonly enc: 'A256GCM'; readonly kid: string }
  | { readonly alg: 'HS256'; readonly kid: string; readonly typ: string }

/** Seals and opens the tokens of one key and one header. */
export interface Cipher {
  /** Returns the compact token of a content. `random` gives the nonce, for the kinds that have one. */
  seal(content: string, random: (bytes: number) => Uint8Array): Promise<string> | string
  /** Returns the content of a compact token, given as its segments. `undefined` for one of another key or header. */
  open(segments: readonly string[]): Promise<string | undefined> | string | undefined
}

/** The inputs of a cipher. */
export interface CipherKey {
  readonly secret: Uint8Array
  /** The context string of the key derivation (HKDF-SHA-256). */
  readonly info: string
  readonly header: ProtectedHeader
}

/** The cryptographic operations of a platform, Node or Web Crypto. Both make the same tokens. */
export interface CryptoProvider {
  readonly random: (bytes: number) => Uint8Array
  readonly digest: DigestFunction
  /** See `isCanonicalBase64url` in base64url.ts. A platform may have a faster way for long texts. */
  readonly isCanonicalBase64url: (text: string) => boolean
}

/** Creates a cipher of one kind: JWE compact (`dir`, `A256GCM`), or JWS compact (`HS256`). */
export type CreateCipher = (key: CipherKey) => Promise<Cipher> | Cipher

/**
 * The salt of HKDF: fixed, so that every instance derives the same keys. Its number is the version of the token format.
 */
export const derivationSalt = 'x/state-codec/1'

/**
 * Returns true when a result is a promise. Node's results are synchronous. Awaiting one would still cost a microtask, a
 * tenth of the cost to seal and open a small state.
 */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise
}
