import type { Connection } from './azure-devops/connection.ts'
import { readConfiguration } from './configuration.ts'
import { startEmulator } from './emulator/start-emulator.ts'

/** The Azure DevOps of a run: the real service or an emulator. */
export interface Service {
  readonly emulated: boolean
  readonly connection: Connection
  /** The additional environment variables of an instance. */
  readonly environment: Readonly<Record<string, string>>
  /** Restores the work items of the emulator. Does nothing for the real service. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/** Returns the service that the environment names, or starts an emulator. Throws `ConfigurationError`. */
export async function openService(environment: NodeJS.ProcessEnv): Promise<Service> {
  const { azureDevOps } = readConfiguration(environment)
  if (azureDevOps !== undefined) {
    const nothing = async (): Promise<void> => {}
    return { emulated: false, connection: azureDevOps, environment: {}, reset: nothing, stop: nothing }
  }
  const emulator = await startEmulator()
  const { azureDevOps: connection } = readConfiguration(emulator.environment)
  if (connection === undefined) throw new Error('The emulator gave no connection.')
  return { ...emulator, emulated: true, connection }
}
