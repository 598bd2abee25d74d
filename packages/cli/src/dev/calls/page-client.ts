import { loginTimeoutMs } from '../../calls/stored-login.ts'
import type { RestartableConnection } from '../target/restartable-connection.ts'
import type { Probe, Target } from '../target/target.ts'
import type { DevClient } from './call-kinds.ts'
import type { Calls } from './calls.ts'
import { failedLists, readLists } from './lists.ts'
import { createProfileClient, type Profile } from './profiles.ts'
import { Questions } from './questions.ts'
import { Tasks } from './tasks.ts'
import type { Wire } from '../wire/wire.ts'
import type { EventLog } from '../event-log.ts'

/** A user may log in first. A program that is downloaded has a minute, and is then started once more. */
const probeTimeoutMs = loginTimeoutMs

/** The client of the page. Another revision needs another connection, and so another client. */
export class PageClient {
  readonly questions: Questions
  readonly tasks: Tasks
  readonly #log: EventLog
  readonly #target: Target
  readonly #calls: Calls
  #client: DevClient | undefined
  #connection: RestartableConnection | undefined

  constructor(
    log: EventLog,
    { target, calls, wire }: { readonly target: Target; readonly calls: Calls; readonly wire: Wire },
  ) {
    this.#log = log
    this.questions = new Questions(log, () => wire.callId)
    this.tasks = new Tasks(log, wire)
    this.#target = target
    this.#calls = calls
  }

  get client(): DevClient {
    if (this.#client === undefined) throw new Error('The page has no client yet')
    return this.#client
  }

  /** Asks again what the server offers. */
  async readLists(): Promise<void> {
    const lists = await readLists(this.client).catch(failedLists)
    this.#calls.setTools(lists.tools.items)
    this.#log.append({ type: 'lists', lists })
  }

  /** Acts as another client. */
  use(profile: Profile): void {
    const replaced = this.#connection
    const connection = this.#target.connect(profile.revision)
    const client = createProfileClient(connection, profile, {
      questions: this.questions,
      onTask: (task) => this.tasks.add(task),
      log: ({ level, message }) => this.#calls.note(`${level}: ${message}`),
      observe: (event) => this.#calls.observe(event),
    })
    this.#connection = connection
    this.#client = client
    this.#target.usePrimary(connection, { profile: profile.host, probe: (signal) => probe(client, connection, signal) })
    void replaced?.close()
  }
}

async function probe(client: DevClient, connection: RestartableConnection, signal: AbortSignal): ReturnType<Probe> {
  await client.discover({ timeoutMs: probeTimeoutMs, maxResendMs: 0, signal })
  const { name, version = '' } = client.serverInfo ?? {}
  const { revision } = connection.peer ?? {}
  return { name: name === undefined ? undefined : `${name} ${version}`.trim(), revision }
}
