import { type FetchFunction, platformFetch } from '../bounded-fetch.ts'
import type { AuthorizerDeps } from './authorize.ts'
import { type DpopOptions, dpopOf } from './dpop.ts'
import { type AuthStore, memoryStore } from './store.ts'
import { openRecords } from './stored.ts'

/** Options that every kind of authorizer has. */
export interface AuthorizerOptions {
  /** Binds tokens to a key, where the authorization server does (RFC 9449). Default `false`. */
  readonly dpop?: boolean | DpopOptions | undefined
  /**
   * Store of logins and tokens: one for one client, and for one person where there is one. Default: {@link
   * memoryStore}.
   */
  readonly store?: AuthStore | undefined
  /** Sends metadata and token requests. Default: the platform's. */
  readonly fetch?: FetchFunction | undefined
  /** The clock; the platform's own by default. */
  readonly runtime?: { readonly now?: (() => number) | undefined } | undefined
}

/** Returns the dependencies of an authorizer that its options stand for. */
export function authorizerDepsOf(
  options: AuthorizerOptions,
): Pick<AuthorizerDeps, 'records' | 'fetch' | 'now' | 'dpop'> {
  const { store, fetch = platformFetch, runtime } = options
  const now = runtime?.now ?? Date.now
  const records = openRecords(store ?? memoryStore())
  return { records, fetch, now, dpop: dpopOf(options.dpop, { records, isStored: store !== undefined, now }) }
}
