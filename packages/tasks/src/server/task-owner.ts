import { type JsonObject, type Principal, principalIdentity } from '@x/schema'

/** Returns the owner of a task. */
export function taskOwner(principal: Principal | undefined): string {
  return principal === undefined ? '' : JSON.stringify(principalIdentity(principal))
}

/** Returns the part of a principal that is stored with a task: its identity and scopes, and no credentials. */
export function principalIdentityOf(principal: Principal | undefined): JsonObject | undefined {
  if (principal === undefined) return undefined
  const { issuer, subject, client, scopes } = principal
  return {
    subject,
    ...(issuer !== undefined && { issuer }),
    ...(client !== undefined && { client }),
    ...(scopes !== undefined && { scopes }),
  }
}
