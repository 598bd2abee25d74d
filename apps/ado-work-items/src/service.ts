import type { Connection } from './azure-devops/connection.ts'
import { readConfiguration } from './configuration.ts'
import { startEmulator } from './emulator/start-emulator.ts'

/** The Azure DevOps that is used: the real one, or an emulator. */
export interface Service {
  readonly emulated: boolean
  readonly connection: Connection
  /** The environment of a server instance, in addition to this process's own. */
  readonly environment: Readonly<Record<string, string>>
  /** Restores the emulator's work items; does nothing to the real ones. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/** The service that the environment names, else an emulator that is started for it. Throws `ConfigurationError`. */
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
