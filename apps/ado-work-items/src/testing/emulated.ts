import { basicAuthorization, type Connection } from '../azure-devops/connection.ts'
import { type AzureDevOps, createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { readSeed } from '../emulator/seed.ts'
import { serveEmulator } from '../emulator/serve-emulator.ts'

/** An emulator with its initial work items, and an Azure DevOps client for it. */
export interface Emulated {
  readonly connection: Connection
  readonly azureDevOps: AzureDevOps
  /** Calls the emulator directly. `path` is the part after the project. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>
  [Symbol.asyncDispose](): Promise<void>
}

/** The arguments of a direct call. */
export interface CallOptions {
  readonly body?: unknown
  readonly contentType?: string
}

/** Starts an emulator for one test. */
export async function emulated(): Promise<Emulated> {
  const [organization, project, token] = ['fabrikam', 'Fabrikam Fiber', 'test-token']
  const now = () => new Date('2026-07-28T12:00:00Z')
  const emulator = await serveEmulator({ organization, project, token, seed: readSeed(), now })
  const authorization = basicAuthorization(token)
  const connection = { baseUrl: emulator.url, organization, project, authorization }
  return {
    connection,
    azureDevOps: createAzureDevOps(connection),
    call: (method, path, { body, contentType = 'application/json' } = {}) =>
      fetch(`${emulator.url}/fabrikam/Fabrikam%20Fiber/_apis/${path}`, {
        method,
        headers: { authorization, 'content-type': contentType },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    [Symbol.asyncDispose]: emulator.close,
  }
}
