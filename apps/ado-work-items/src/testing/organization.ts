import { serveEmulator } from '../emulator/serve-emulator.ts'

/** An emulator that the application takes for a real organization. */
export interface ServedOrganization extends AsyncDisposable {
  readonly url: string
  /** The settings of an application that talks to it. Its walk-through only reads, which takes a third of the time. */
  readonly environment: Readonly<Record<string, string>>
}

/** Serves an organization on a free port. */
export async function serveOrganization(): Promise<ServedOrganization> {
  const [name, project, token] = ['contoso', 'Real', 'real-token']
  const emulator = await serveEmulator({ organization: name, project, token })
  const environment = {
    AZURE_DEVOPS_URL: emulator.url,
    AZURE_DEVOPS_ORG: name,
    AZURE_DEVOPS_PROJECT: project,
    AZURE_DEVOPS_TOKEN: token,
  }
  return { environment, url: emulator.url, [Symbol.asyncDispose]: emulator.close }
}
