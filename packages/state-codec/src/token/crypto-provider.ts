import type { DigestFunction } from '../envelope/envelope.ts'

/**
 * Contains the id of the key, and for signed tokens also the purpose. The keys of both kinds of tokens are derived from
 * the purpose.
 */
export type ProtectedHeader =
  | { readonly alg: 'dir'; readonly enc: 'A256GCM'; readonly kid: string }
  | { readonly alg: 'HS256'; readonly kid: string; readonly typ: string }

/** Seals and opens the tokens of one key and one header. */
export interface Cipher {
  /** Makes a compact token of a text. An encrypted token takes its nonce from `random`. */
  seal(content: string, random: (bytes: number) => Uint8Array): Promise<string> | string
  /** Takes a compact token as its segments. `undefined` for a token of another key or header. */
  open(segments: readonly string[]): Promise<string | undefined> | string | undefined
}

export interface CipherKey {
  readonly secret: Uint8Array
  /** Context string of the key derivation (HKDF-SHA-256). */
  readonly info: string
  readonly header: ProtectedHeader
}

/** Cryptography of a platform, Node or Web Crypto. Both make the same tokens. */
export interface CryptoProvider {
  readonly random: (bytes: number) => Uint8Array
  readonly digest: DigestFunction
  /** See `isCanonicalBase64url` in base64url.ts. A platform may have a faster way for long texts. */
  readonly isCanonicalBase64url: (text: string) => boolean
}

/** One kind of cipher: JWE compact (`dir`, `A256GCM`), or JWS compact (`HS256`). */
export type CreateCipher = (key: CipherKey) => Promise<Cipher> | Cipher

/**
 * Salt of HKDF. It is fixed, so that every instance derives the same keys. Its number is the version of the token
 * format.
 */
export const derivationSalt = 'x/state-codec/1'
