import { legacy } from '@x/legacy'
import { createServer, sealedState } from '@x/server'
import { sessions } from '@x/sessions/server'
import type { StateStore } from '@x/state-codec'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import type { SimulationContext } from '../simulation-context.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { Services } from '../services/services.ts'
import type { Instance } from './fleet.ts'
import { board, createTools, type SessionItems } from './tools.ts'

interface InstanceDeps extends SimulationContext {
  readonly services: Services
  /** The number of calls that run at an instance before it sheds others. */
  readonly hardLimit: number
  readonly keys: readonly string[]
  readonly port: number
}

/** The lifetime of a state in milliseconds. Users answer within a minute. */
const stateTtlMs = 5 * 60_000

/** The header with the name of the caller. */
export const callerHeader = 'x-caller'

/** Returns the caller of a request. */
export function findCaller(request: { header(name: string): string | undefined }): { subject: string } | undefined {
  const subject = request.header(callerHeader)
  return subject === undefined ? undefined : { subject }
}

/**
 * Starts an instance with a version of the server: 1 or 2. A deployment runs both at once. It must run as a part of the
 * process `host`.
 */
export async function startInstance(host: Host, version: number, deps: InstanceDeps): Promise<Omit<Instance, 'host'>> {
  const { services, report, trace, hardLimit, keys, port } = deps
  const store: StateStore = services.storeOf()
  const bus = services.busOf(host)
  const session = sessions({
    state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } satisfies SessionItems },
    store,
  })
  const server = createServer({
    name: 'fleet',
    version: `${version}.0.0`,
    state: sealedState({ keys, ttlMs: stateTtlMs }),
    tools: createTools({ version, effects: services.effects, report, session }),
    resources: [board],
    shedding: { hardLimit: { running: hardLimit } },
    idempotency: { store },
    subscriptions: { bus },
    strictReplay: false,
    log: ({ level, message, err }) =>
      trace.add(host.name, `log: ${level}: ${err instanceof Error ? err.message : message}`),
    extensions: [
      session,
      tasks({ store: services.engineOf(bus), maxFailures: 1000, concurrency: 4 }),
      legacy({ store }),
    ],
  })
  // Starts the worker of tasks, as a balancer that requests `/readyz` does.
  void server.ready()
  return { server, http: await serveHttp(server, { port, auth: findCaller }) }
}
