import { randomBytes } from 'node:crypto'
import { basicAuthorization } from '../azure-devops/connection.ts'
import { startChild } from '../fleet/child.ts'

/** A running emulator process. */
export interface EmulatorProcess {
  /** The environment variables with which an instance uses the emulator. */
  readonly environment: Readonly<Record<string, string>>
  /** Restores the initial work items. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/** The delay after a change, in milliseconds. The real service takes about as long. */
const writeMs = 200

/** Starts the emulator as a child process, with the initial work items and a random token. */
export async function startEmulator(): Promise<EmulatorProcess> {
  const settings = {
    AZURE_DEVOPS_ORG: 'fabrikam',
    AZURE_DEVOPS_PROJECT: 'Fabrikam Fiber',
    AZURE_DEVOPS_TOKEN: randomBytes(24).toString('base64url'),
  }
  const child = await startChild(new URL('./process.js', import.meta.url), {
    ...settings,
    EMULATOR_WRITE_MS: String(writeMs),
  })
  const url = `http://127.0.0.1:${child.port}`
  const reset = async (): Promise<void> => {
    const headers = { authorization: basicAuthorization(settings.AZURE_DEVOPS_TOKEN) }
    const path = `${settings.AZURE_DEVOPS_ORG}/_apis/emulator/reset?api-version=7.1`
    const answer = await fetch(`${url}/${path}`, { method: 'POST', headers })
    if (!answer.ok) throw new Error(`The emulator cannot be reset: ${answer.status} ${await answer.text()}`)
  }
  return { environment: { ...settings, AZURE_DEVOPS_URL: url }, reset, stop: child.stop }
}
