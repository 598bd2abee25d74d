import type { Client } from '@x/client'
import type { RestartableConnection } from '../target/restartable-connection.ts'
import type { Probe, Target, WantedRevision } from '../target/target.ts'
import type { Calls } from './calls.ts'

/** `connectAny` waits a minute for a program that is downloaded first, and then starts it once more. */
const probeTimeoutMs = 150_000

/** The client of the page. Another revision needs another connection, and so another client. */
export class PageClient {
  readonly #target: Target
  readonly #calls: Calls
  #client: Client | undefined
  #connection: RestartableConnection | undefined

  constructor(target: Target, calls: Calls) {
    this.#target = target
    this.#calls = calls
  }

  get client(): Client {
    if (this.#client === undefined) throw new Error('The page has no client yet')
    return this.#client
  }

  /** Reads the tools of the server again. */
  async listTools(): Promise<void> {
    try {
      this.#calls.setTools(await this.client.listTools(), undefined)
    } catch (error) {
      this.#calls.setTools([], error instanceof Error ? error.message : String(error))
    }
  }

  use(revision: WantedRevision): void {
    const replaced = this.#connection
    const connection = this.#target.connect(revision)
    const client = this.#calls.openClient(connection)
    this.#connection = connection
    this.#client = client
    this.#target.usePrimary(connection, () => probe(client, connection))
    void replaced?.close()
  }
}

async function probe(client: Client, connection: RestartableConnection): ReturnType<Probe> {
  await client.discover({ timeoutMs: probeTimeoutMs, maxResendMs: 0 })
  const { name, version = '' } = client.serverInfo ?? {}
  const { revision } = connection.peer ?? {}
  return { name: name === undefined ? undefined : `${name} ${version}`.trim(), revision }
}
