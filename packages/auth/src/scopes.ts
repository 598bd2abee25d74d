/** Scopes by name, such as `items:read`. */
export type Scopes = readonly string[]

/** Scopes that a scope includes: `{ 'items:write': ['items:read'] }`. */
export type ImpliedScopes = Readonly<Record<string, Scopes>>

/** True for a scope: visible ASCII without quotes, backslashes and spaces (RFC 6749, section 3.3). */
export function isScope(text: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)
}

/**
 * Returns the scopes as they came.
 *
 * @throws TypeError for a malformed scope. `where` is the option in the message.
 */
export function parseScopes(label: string, scopes: unknown): Scopes {
  if (!Array.isArray(scopes)) throw new TypeError(`${label} has to be an array of scopes`)
  for (const scope of scopes) {
    if (typeof scope !== 'string' || !isScope(scope))
      throw new TypeError(
        `${label} has the scope ${JSON.stringify(scope)}: write visible ASCII without quotes, backslashes and spaces`,
      )
    // basic/authorization/index, refresh tokens: a client asks for it, and no resource needs it.
    if (scope === 'offline_access') throw new TypeError(`${label} has offline_access, which is no scope of a resource`)
  }
  return scopes
}

/**
 * Adds the scopes that the given ones include, in any number of steps (basic/authorization/index: scope hierarchies).
 */
export function expandScopes(scopes: Scopes, impliedScopes: ReadonlyMap<string, Scopes>): Scopes {
  if (impliedScopes.size === 0) return scopes
  const allScopes = new Set(scopes)
  // The iteration of a set reaches what is added meanwhile, and each scope once, so that a circle of scopes ends.
  for (const scope of allScopes) for (const impliedScope of impliedScopes.get(scope) ?? []) allScopes.add(impliedScope)
  return [...allScopes]
}

/** Compiles the option `impliedScopes`. Throws a TypeError for malformed scopes. */
export function compileImpliedScopes(impliedScopes: ImpliedScopes = {}): ReadonlyMap<string, Scopes> {
  return new Map(
    Object.entries(impliedScopes).map(([scope, impliedScopeNames]) => [
      scope,
      parseScopes(`impliedScopes["${scope}"]`, impliedScopeNames),
    ]),
  )
}
