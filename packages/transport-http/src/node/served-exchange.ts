import type { Exchange } from '@x/schema'

/**
 * An exchange, and what it may tell of itself, as `createServer` of `@x/server` does: why only this machine may reach it,
 * when what it leaves with a client no other instance could open; and how busy it is.
 */
export interface ServedExchange extends Exchange {
  readonly localOnly?: string | undefined
  readonly load?: { readonly ready: boolean } | undefined
  /** Tells that the server is about to stop, so that running calls move on to another instance; gives what takes it back. */
  drain?(): () => void
}
