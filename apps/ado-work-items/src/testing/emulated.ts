import { basicAuthorization, type Connection } from '../azure-devops/connection.ts'
import { type AzureDevOps, createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { serveEmulator } from '../emulator/serve-emulator.ts'

/** An emulator with its initial work items, and an Azure DevOps client for it. */
export interface Emulated extends AsyncDisposable {
  readonly connection: Connection
  readonly azureDevOps: AzureDevOps
  /** The settings of a program that takes it for a real organization, and whose walk-through therefore only reads. */
  readonly environment: Readonly<Record<string, string>>
}

/** Starts an emulator for one test. */
export async function emulated(): Promise<Emulated> {
  const [organization, project, token] = ['fabrikam', 'Fabrikam Fiber', 'test-token']
  const now = () => new Date('2026-07-28T12:00:00Z')
  const emulator = await serveEmulator({ organization, project, token, now })
  const connection = { baseUrl: emulator.url, organization, project, authorization: basicAuthorization(token) }
  return {
    connection,
    azureDevOps: createAzureDevOps(connection),
    environment: {
      AZURE_DEVOPS_URL: emulator.url,
      AZURE_DEVOPS_ORG: organization,
      AZURE_DEVOPS_PROJECT: project,
      AZURE_DEVOPS_TOKEN: token,
    },
    [Symbol.asyncDispose]: emulator.close,
  }
}
