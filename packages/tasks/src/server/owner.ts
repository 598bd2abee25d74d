import { type JsonObject, type Principal, principalIdentity } from '@x/schema'

/** Whose a task is. */
export function taskOwner(principal: Principal | undefined): string {
  return principal === undefined ? '' : JSON.stringify(principalIdentity(principal))
}

/** What is kept of a principal with a task: who it is and what it may do, and nothing that proves it. */
export function namedPrincipal(principal: Principal | undefined): JsonObject | undefined {
  if (principal === undefined) return undefined
  const { issuer, subject, client, scopes } = principal
  return {
    subject,
    ...(issuer !== undefined && { issuer }),
    ...(client !== undefined && { client }),
    ...(scopes !== undefined && { scopes }),
  }
}
