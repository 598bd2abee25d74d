/**
 * For programs that run without a user. They authenticate with client credentials, or with the identity that their
 * platform gives to a workload.
 *
 * @module @x/auth/machine
 */

export {
  type AuthCapabilities,
  clientCredentials,
  type ClientCredentialsOptions,
  type MachineAuth,
  type MachineOptions,
  workload,
  type WorkloadOptions,
} from './client/machine.ts'
export type { ClientKey, MachineClient } from './client/machine-client.ts'
export type { GivenResource } from './client/authorize.ts'
