import { type Client, createClient } from '@x/client'
import { isSessionNotFound, sessionsClient } from '@x/sessions/client'
import { connectHttp } from '@x/transport-http/client'
import { urlOf } from '../network/ports.ts'
import type { Host } from '../platform/virtual-time.ts'
import { callOnce, type ClientContext, connectOptionsOf, countFailure, type Outcome, runCalls } from './calls.ts'

/** The second rotation retires the old key, and the sessions that it sealed are lost. */
const rotationsUntilRetired = 2

/** Runs a client whose calls add items to one session. Only calls with a result may have added an item. */
export async function runSessionClient(host: Host, context: ClientContext): Promise<void> {
  const { trace, faults, report, counts, services, server } = context
  const connection = connectHttp(urlOf(server), connectOptionsOf(host, context))
  await using client = createClient(connection, { name: host.name, version: '1.0.0', extensions: [sessionsClient()] })
  let session: Pick<Client, 'callTool'> | undefined
  let items: string[] = []
  const add = async (name: string): Promise<Outcome> => {
    trace.add(host.name, `adds ${name}`)
    const outcome = await callOnce(async () => (session ??= await client.sessions.create()), 'add', name)
    trace.add(host.name, `${name}: ${outcome.text ?? String(outcome.error)}`)
    if (!isSessionNotFound(outcome.error)) return outcome
    const hasRetiredKey = faults.counts.get('keys_rotated') === rotationsUntilRetired
    if (!hasRetiredKey && !services.hasStoreLostWrites)
      report('sessions', `${name} lost its session although no key was retired`)
    session = undefined
    items = []
    return add(name)
  }
  const call: Parameters<typeof runCalls>[2]['call'] = async ({ name, isHealthy }) => {
    const outcome = await add(name)
    if (outcome.text === undefined) return countFailure({ tool: 'add', name, isHealthy, outcome }, context)
    counts.completed += 1
    items.push(name)
    if (outcome.text !== items.join(' ') && !services.hasStoreLostWrites)
      report('sessions', `${name} returned "${outcome.text}" instead of "${items.join(' ')}"`)
  }
  await runCalls(host, context, { call })
}
