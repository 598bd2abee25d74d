import type { DigestFunction } from '../envelope/envelope.ts'

/**
 * The protected header of a token. It contains the id of the key, and for signed tokens also the purpose. The keys of
 * both kinds of tokens are derived from the purpose.
 */
export type ProtectedHeader =
  | { readonly alg: 'dir'; readonly enc: 'A256GCM'; readonly kid: string }
  | { readonly alg: 'HS256'; readonly kid: string; readonly typ: string }

/** Seals and opens the tokens of one key and one header. */
export interface Cipher {
  /** Returns the compact token for a text. An encrypted token takes its nonce from `random`. */
  seal(content: string, random: (bytes: number) => Uint8Array): Promise<string> | string
  /**
   * Returns the content of a compact token, which is given as its segments. Returns `undefined` for a token of another
   * key or header.
   */
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
 * The salt of HKDF. It is fixed, so that every instance derives the same keys. The number in it is the version of the
 * token format.
 */
export const derivationSalt = 'x/state-codec/1'
