import type { AuthStore } from './store.ts'
import type { StoredToken } from './stored.ts'

/** The kind of server that issued a nonce. One origin may have a nonce of each kind. */
export type NonceSource = 'authorization' | 'resource'

/** A request that carries a proof. */
export interface ProofRequest {
  readonly nonceSource: NonceSource
  readonly url: URL
  readonly method: string
  /** The token that the request carries. */
  readonly accessToken?: string | undefined
}

/** The key of a client, and the nonces that servers have given it. */
export interface Dpop {
  readonly isRequired: boolean
  /** Returns the thumbprint of the public key (RFC 7638), which tokens are bound to. */
  getThumbprint(): Promise<string>
  /** Returns a proof for one request. A second request needs another (RFC 9449, section 4.2). */
  createProof(request: ProofRequest): Promise<string>
  nonceOf(source: NonceSource, url: URL): string | undefined
  /** Keeps the nonce that a response brought, for the next proof (RFC 9449, section 8.2). */
  rememberNonce(source: NonceSource, url: URL, nonce: string | null | undefined): void
}

/** The parts of an authorizer that proofs are made with. */
export interface DpopContext {
  readonly store: AuthStore
  /** True when the store outlives the process. */
  readonly isStored: boolean
  readonly now: () => number
}

/** Binds the tokens of an authorizer to a key (RFC 9449), as `dpop` of `@x/auth/dpop` returns it. */
export interface DpopBinding {
  /** Creates the proofs of one authorizer. */
  createDpop(context: DpopContext): Dpop
}

/** Returns true for a token that is bound to this key, and for a bearer token where those are allowed. */
export async function matchesBinding(dpop: Dpop | undefined, { thumbprint }: StoredToken): Promise<boolean> {
  if (thumbprint === undefined) return dpop?.isRequired !== true
  return dpop !== undefined && (await dpop.getThumbprint()) === thumbprint
}
