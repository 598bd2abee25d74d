import type { AuthStore } from './store.ts'
import type { StoredToken } from './stored.ts'

/** Which kind of server issued a nonce. Those of both kinds are stored separately, even for one origin. */
export type NonceSource = 'authorization' | 'resource'

/** A request that gets a proof. */
export interface ProofRequest {
  readonly nonceSource: NonceSource
  readonly url: URL
  readonly method: string
  /** Access token of the request. */
  readonly accessToken?: string | undefined
}

/** Makes proofs with the key of a client and the nonces that servers have sent. */
export interface Dpop {
  readonly isRequired: boolean
  /** Thumbprint (RFC 7638) of the public key to which tokens are bound. */
  getThumbprint(): Promise<string>
  /** Makes a proof for one request. Each request needs a new one (RFC 9449, section 4.2). */
  createProof(request: ProofRequest): Promise<string>
  nonceOf(source: NonceSource, url: URL): string | undefined
  /** Stores a response's nonce, for the next proof for this origin (RFC 9449, section 8.2). */
  rememberNonce(source: NonceSource, url: URL, nonce: string | null | undefined): void
}

/** What proofs need of an authorizer. */
export interface DpopContext {
  readonly store: AuthStore
  /** False if the store is lost when the process ends. */
  readonly isStored: boolean
  readonly now: () => number
}

/** Binds the tokens of an authorizer to a key (RFC 9449). Created by `dpop` of `@x/auth/dpop`. */
export interface DpopBinding {
  /** Makes the proofs of one authorizer. */
  createDpop(context: DpopContext): Dpop
}

/** A bearer token matches, too, unless bound tokens are required. */
export async function matchesBinding(dpop: Dpop | undefined, { thumbprint }: StoredToken): Promise<boolean> {
  if (thumbprint === undefined) return dpop?.isRequired !== true
  return dpop !== undefined && (await dpop.getThumbprint()) === thumbprint
}
