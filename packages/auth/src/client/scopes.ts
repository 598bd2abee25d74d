import type { AuthorizationServer } from 'oauth4webapi'
import { AuthError } from './auth-error.ts'
import type { TokenChallenge } from './challenges.ts'
import type { ResourceMetadata } from './resource-metadata.ts'

/** Sources from which the scopes of a login are chosen. */
export interface ScopeSources {
  readonly demand: TokenChallenge
  readonly metadata: ResourceMetadata
  readonly server: AuthorizationServer
  /** Scopes that logins for this resource have asked for so far. */
  readonly requested: readonly string[]
}

const maxScopes = 100

/**
 * Chooses the scopes to ask for (basic/authorization, scope selection strategy): those of the challenge, else all that
 * the resource lists, and those that were asked for before. Throws {@link AuthError} `too_many_scopes`.
 */
export function selectScopes({ demand, metadata, server, requested }: ScopeSources): readonly string[] {
  const neededScopes = demand.scopes ?? metadata.scopes ?? []
  const scopes = new Set([...requested, ...neededScopes])
  // Alone it would take the place of the server's own choice of scopes.
  if (scopes.size > 0 && server.scopes_supported?.includes('offline_access')) scopes.add('offline_access')
  else scopes.delete('offline_access')
  if (scopes.size <= maxScopes) return [...scopes]
  const message = `${metadata.resource} asks for more than ${maxScopes} scopes in one login`
  throw new AuthError('too_many_scopes', message, { issuer: server.issuer })
}
