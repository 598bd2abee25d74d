import type { Principal } from './exchange.ts'

/**
 * Returns the identity of a principal as JSON: its three fields in an array, so that they cannot run together. Null
 * without a principal.
 */
export function principalIdentity(principal: Principal | undefined): (string | null)[] | null {
  if (principal === undefined) return null
  const { issuer = null, subject = null, client = null } = principal
  return [issuer, subject, client]
}
