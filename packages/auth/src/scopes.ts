/** Names of scopes, such as `items:read`. */
export type Scopes = readonly string[]

/** What each scope includes, such as `{ 'items:write': ['items:read'] }`. */
export type ImpliedScopes = Readonly<Record<string, Scopes>>

/** Visible ASCII without quotes, backslashes and spaces (RFC 6749, section 3.3). */
export function isScope(text: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)
}

/**
 * Returns the scopes unchanged.
 *
 * @throws TypeError for a malformed scope. The message begins with `label`, which names the option.
 */
export function parseScopes(label: string, scopes: unknown): Scopes {
  if (!Array.isArray(scopes)) throw new TypeError(`${label} must be an array of scopes`)
  for (const scope of scopes) {
    if (typeof scope !== 'string' || !isScope(scope))
      throw new TypeError(
        `${label} has the scope ${JSON.stringify(scope)}: write visible ASCII without quotes, backslashes and spaces`,
      )
    // basic/authorization/index, refresh tokens: a client requests `offline_access`, and no resource requires this
    // scope.
    if (scope === 'offline_access')
      throw new TypeError(`${label} has offline_access, which is not a scope of a resource`)
  }
  return scopes
}

/**
 * Adds all scopes that these include, directly or through others (basic/authorization/index: scope hierarchies).
 *
 * @throws TypeError for a text, in which a search for one scope would also find the beginning of another.
 */
export function expandScopes(scopes: Scopes, impliedScopes: ReadonlyMap<string, Scopes>): Scopes {
  if (!Array.isArray(scopes))
    throw new TypeError("scopes of a principal must be an array, as of claims.scope.split(' ')")
  if (impliedScopes.size === 0) return scopes
  const allScopes = new Set(scopes)
  // A loop over a Set also visits what is added during it, and visits each element once, so it ends even if two scopes
  // include each other.
  for (const scope of allScopes) for (const impliedScope of impliedScopes.get(scope) ?? []) allScopes.add(impliedScope)
  return [...allScopes]
}

/** Throws a `TypeError` for a malformed scope. */
export function compileImpliedScopes(impliedScopes: ImpliedScopes = {}): ReadonlyMap<string, Scopes> {
  return new Map(
    Object.entries(impliedScopes).map(([scope, impliedScopeNames]) => [
      scope,
      parseScopes(`impliedScopes["${scope}"]`, impliedScopeNames),
    ]),
  )
}
