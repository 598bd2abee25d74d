import type { Principal } from '@x/exchange'

const tokens = new WeakMap<Principal, string>()

/**
 * Remembers a principal's token for as long as the object exists. The token is in no member of it, and a copy of the
 * principal has none. No entry point exports this map, so only the exchange of tokens reads it.
 */
export function rememberToken(principal: Principal, token: string): void {
  tokens.set(principal, token)
}

/** Undefined for a principal of another source, such as that of a stored task. */
export function findToken(principal: Principal): string | undefined {
  return tokens.get(principal)
}
