import { cloneJson } from '@x/core'
import type { Principal } from '@x/exchange'
import { isJsonObject, type JsonArray, type JsonObject } from '@x/schema'
import { TokenError } from './token-error.ts'

/**
 * Makes the principal from the claims of a verified token. Runs once for each token; its result is cached with the
 * token, for five minutes at most (30 seconds with introspection).
 */
export type ToPrincipal = (claims: JsonObject, issuer: string) => Principal | Promise<Principal>

/**
 * `subject` is the claim `sub`, `client` is `client_id` or `azp`, and the scopes are `scope` or `scp`. The principal
 * does not contain the token, so that no handler can send it to another server
 * (basic/authorization/security-considerations).
 */
export function toStandardPrincipal(claims: JsonObject, issuer: string): Principal {
  const clientId = readTextClaim(claims, 'client_id') ?? readTextClaim(claims, 'azp')
  const subject = readTextClaim(claims, 'sub') ?? clientId
  if (subject === undefined) throw new TokenError('invalid_claim', 'The token has neither "sub" nor "client_id"')
  const exp = claims['exp']
  return {
    subject,
    issuer,
    scopes: parseScopeClaim(claims),
    claims,
    ...(clientId !== undefined && { client: clientId }),
    ...(typeof exp === 'number' && { expiresAt: exp * 1000 }),
  }
}

/**
 * Rejects any other type, such as a number: without its `sub`, a user would count as the client, and so would every
 * other user of the client.
 */
function readTextClaim(claims: JsonObject, name: string): string | undefined {
  const value = claims[name] ?? ''
  if (typeof value !== 'string') throw new TokenError('invalid_claim', `The claim "${name}" is not a string`)
  return value === '' ? undefined : value
}

function parseScopeClaim({ scope, scp }: JsonObject): readonly string[] {
  const scopeClaim = scope ?? scp
  if (typeof scopeClaim === 'string') return scopeClaim.split(' ').filter((name) => name !== '')
  return Array.isArray(scopeClaim) ? scopeClaim.filter((name): name is string => typeof name === 'string') : []
}

/** Frozen, because many calls share it. The claims are a copy, since those of `toPrincipal` may belong to its program. */
export function freezePrincipal(principal: Principal): Principal {
  const { scopes, claims } = principal
  return Object.freeze({
    ...principal,
    ...(scopes !== undefined && { scopes: Object.freeze([...scopes]) }),
    ...(claims !== undefined && { claims: freezeJson(cloneJson(claims)) }),
  })
}

function freezeJson<T extends JsonArray | JsonObject>(value: T): T {
  for (const member of Object.values(value)) {
    if (Array.isArray(member) || isJsonObject(member)) freezeJson(member)
  }
  return Object.freeze(value)
}
