/**
 * For hosts whose users log in at the identity provider of their enterprise.
 *
 * @module @x/auth/enterprise
 */

export {
  enterprise,
  type EnterpriseOptions,
  type IdentityAssertion,
  type IdentityProvider,
  type IdentityRequest,
} from './client/enterprise.ts'
export type { AuthCapabilities, MachineAuth, MachineOptions } from './client/machine.ts'
export type { ClientKey, MachineClient } from './client/machine-client.ts'
