/**
 * Exchanges the tokens of callers, for a gateway that calls other servers for them.
 *
 * @module @x/auth/exchange
 */

export { tokenExchange, type TokenExchangeOptions } from './client/token-exchange.ts'
export type { ClientKey, MachineClient } from './client/machine-client.ts'
export type { GivenResource } from './client/authorize.ts'
