/**
 * Tokens that are bound to a key (RFC 9449), for every authorizer of this package.
 *
 * @module @x/auth/dpop
 */

export { dpop, type DpopOptions } from './client/dpop.ts'
export type { Dpop, DpopBinding, DpopContext, NonceSource, ProofRequest } from './client/dpop-binding.ts'
