import { legacy } from '@x/legacy'
import { createServer, type McpServer, sealedState } from '@x/server'
import { sessions } from '@x/sessions/server'
import type { StateStore } from '@x/state-codec'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'
import type { SimulationContext } from '../simulation-context.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { Services } from '../services/services.ts'
import { board, createTools, type SessionItems } from './tools.ts'

export interface InstanceDeps extends SimulationContext {
  readonly services: Services
  /** The number of calls that run at an instance before it sheds others. */
  readonly hardLimit: number
  readonly keys: readonly string[]
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

/** Creates a version of the server: 1 or 2. A deployment runs both at once. */
export function createInstanceServer(host: Host, version: number, deps: InstanceDeps): McpServer {
  const { services, report, trace, hardLimit, keys } = deps
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
  return server
}
