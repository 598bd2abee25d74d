import { type Connection, connectionFrom } from './azure-devops/connection.ts'
import { startEmulator } from './emulator/start-emulator.ts'

/** The Azure DevOps that is used: the real one, or an emulator. */
export interface Service {
  readonly emulated: boolean
  readonly connection: Connection
  /** The environment of a server instance, in addition to this process's own. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** The service that the environment names, else an emulator that is started for it. Throws `ConfigurationError`. */
export async function openService(environment: NodeJS.ProcessEnv): Promise<Service> {
  const real = connectionFrom(environment)
  if (real !== undefined) return { emulated: false, connection: real, environment: {}, stop: async () => {} }
  const emulator = await startEmulator()
  const connection = connectionFrom(emulator.environment)
  if (connection === undefined) throw new Error('The emulator gave no connection.')
  return { emulated: true, connection, environment: emulator.environment, stop: emulator.stop }
}
