import { type CallContext, contextKey } from '@x/schema'

/** The connection of an older client, as a handler sees it. */
export interface LegacyPeer {
  /** The revision that the client speaks. */
  readonly revision: string
}

/** The older client that calls; absent for a client of 2026-07-28. */
export const legacyPeerKey = contextKey<LegacyPeer>('x/legacy-peer')

/**
 * Returns the revision that the client of this call speaks; undefined for a client of 2026-07-28. Handlers need it for
 * display and logs alone: everything else works the same for both.
 *
 * @example
 * run: (_, ctx) => legacyOf(ctx)?.revision ?? 'this revision'
 */
export function legacyOf({ context }: { readonly context: CallContext }): LegacyPeer | undefined {
  return context.get(legacyPeerKey)
}
