/**
 * Binds the tokens of an authorizer of this package to a key (DPoP, RFC 9449).
 *
 * @module @x/auth/dpop
 */

export { dpop, type DpopOptions } from './client/dpop.ts'
export type { Dpop, DpopBinding, DpopContext, NonceSource, ProofRequest } from './client/dpop-binding.ts'
