import { guardedFetch } from '@x/auth/node'
import type { UserLoginOptions } from '@x/auth/login'

/**
 * A `fetch` for requests with credentials of the gateway. An origin that the file names may have a private address. Any
 * other one comes from an upstream or an issuer and must be public, so that none of them can make the gateway call
 * servers inside your network.
 */
export function createFetch(addresses: readonly (string | undefined)[]): NonNullable<UserLoginOptions['fetch']> {
  const named = addresses.flatMap((address) => (address === undefined ? [] : [new URL(address)]))
  const guarded = guardedFetch({ allowedOrigins: named.map(({ origin }) => origin) })
  // http is valid on this machine only, for an origin that the file names.
  const local = new Set(named.filter(({ protocol }) => protocol === 'http:').map(({ origin }) => origin))
  return (address, request) =>
    local.has(new URL(address).origin) ? fetch(address, request) : guarded(address, request)
}
