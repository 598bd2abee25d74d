import type { Digest } from '../claims/envelope.ts'

/** The protected header of a token: which key, and what for. Nothing else is in it. */
export type ProtectedHeader =
  | { readonly alg: 'dir'; readonly enc: 'A256GCM'; readonly kid: string; readonly typ: string }
  | { readonly alg: 'HS256'; readonly kid: string; readonly typ: string }

/** Makes and opens the tokens of one key and one header. */
export interface Cipher {
  /** The compact token of a text. `random` gives the nonce, where the kind has one. */
  protect(text: string, random: (bytes: number) => Uint8Array): Promise<string> | string
  /** The text of a compact token, which is given as the segments of the right form; nothing when it was not made with this key and header. */
  recover(segments: readonly string[]): Promise<string | undefined> | string | undefined
}

/** What a cipher is made from. */
export interface CipherKey {
  readonly secret: Uint8Array
  /** What the secret is derived for, with HKDF-SHA-256. */
  readonly info: string
  readonly header: ProtectedHeader
}

/** What differs between Node and everywhere else; both make the same tokens. */
export interface Platform {
  readonly random: (bytes: number) => Uint8Array
  readonly digest: Digest
  /** See `isCanonicalBase64url` in base64url.ts: where texts are long, a platform may have a faster way. */
  readonly isCanonicalBase64url: (text: string) => boolean
  /** JWE compact, `dir` and `A256GCM`. */
  readonly sealing: (key: CipherKey) => Promise<Cipher> | Cipher
  /** JWS compact, `HS256`. */
  readonly signing: (key: CipherKey) => Promise<Cipher> | Cipher
}

/** HKDF's salt: fixed, so that every instance derives the same keys; its number is that of the token's format. */
export const derivationSalt = 'x/state-codec/1'

/**
 * Whether an answer is still to come. Node's are there at once, and waiting for one nevertheless takes a turn of the microtask queue: a tenth of what
 * it costs to seal and open a small state.
 */
export function isPending<T>(answer: T | Promise<T>): answer is Promise<T> {
  return answer instanceof Promise
}
