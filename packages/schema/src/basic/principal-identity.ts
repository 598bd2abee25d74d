import type { Principal } from './exchange.ts'

/**
 * What makes a principal who it is, as JSON: two are the same when all three are, and as an array the end of one cannot pass for
 * the beginning of another. Null for nobody in particular.
 */
export function principalIdentity(principal: Principal | undefined): (string | null)[] | null {
  if (principal === undefined) return null
  const { issuer = null, subject = null, client = null } = principal
  return [issuer, subject, client]
}
