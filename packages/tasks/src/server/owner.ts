import type { JsonObject, Principal } from '@x/schema'

/** Whose a task is: two principals are the same when all three are; JSON keeps one's end from being another's beginning. */
export function ownerOf(principal: Principal | undefined): string {
  if (principal === undefined) return ''
  const { issuer = null, subject, client = null } = principal
  return JSON.stringify([issuer, subject, client])
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
