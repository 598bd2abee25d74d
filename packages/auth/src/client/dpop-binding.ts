import type { AuthStore } from './store.ts'
import type { StoredToken } from './stored.ts'

/** The kind of server that issued a nonce. The nonces of both kinds are stored separately, even for one origin. */
export type NonceSource = 'authorization' | 'resource'

/** A request that contains a proof. */
export interface ProofRequest {
  readonly nonceSource: NonceSource
  readonly url: URL
  readonly method: string
  /** The access token that the request contains. */
  readonly accessToken?: string | undefined
}

/** Creates proofs with the key of a client and with the nonces that servers have sent. */
export interface Dpop {
  readonly isRequired: boolean
  /** Returns the thumbprint (RFC 7638) of the public key to which tokens are bound. */
  getThumbprint(): Promise<string>
  /** Creates a proof for one request. Each request needs a new proof (RFC 9449, section 4.2). */
  createProof(request: ProofRequest): Promise<string>
  nonceOf(source: NonceSource, url: URL): string | undefined
  /** Stores the nonce of a response. The next proof for this origin contains it (RFC 9449, section 8.2). */
  rememberNonce(source: NonceSource, url: URL, nonce: string | null | undefined): void
}

/** The parts of an authorizer that are needed to create proofs. */
export interface DpopContext {
  readonly store: AuthStore
  /** True if the store is kept when the process ends. */
  readonly isStored: boolean
  readonly now: () => number
}

/** Binds the tokens of an authorizer to a key (RFC 9449). Created by `dpop` of `@x/auth/dpop`. */
export interface DpopBinding {
  /** Returns the object that creates the proofs of one authorizer. */
  createDpop(context: DpopContext): Dpop
}

/** Returns true if a token is bound to this key. A bearer token matches unless bound tokens are required. */
export async function matchesBinding(dpop: Dpop | undefined, { thumbprint }: StoredToken): Promise<boolean> {
  if (thumbprint === undefined) return dpop?.isRequired !== true
  return dpop !== undefined && (await dpop.getThumbprint()) === thumbprint
}
