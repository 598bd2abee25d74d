import { ledgerBounds, type LedgerKind } from '@x/core'
import { legacy } from '@x/legacy'
import { createServer, type McpServer, sealedState } from '@x/server'
import { sessions } from '@x/sessions/server'
import type { StateStore } from '@x/state-codec'
import { tasks } from '@x/tasks/server'
import { type FetchHandler, httpHandler } from '@x/transport-http'
import * as z from 'zod'
import type { SimulationContext } from '../simulation-context.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { Services } from '../services/services.ts'
import { board, createTools, type SessionItems } from './tools.ts'

/** One instance of the server, as a simulated process. */
export interface Instance {
  readonly host: Host
  readonly server: McpServer
  readonly handle: FetchHandler
  /** Returns the counts of the ledger that are not zero, by kind. */
  countUsage(): readonly string[]
}

interface InstanceDeps extends SimulationContext {
  readonly services: Services
  /** The number of calls that run at an instance before it sheds others. */
  readonly hardLimit: number
}

/** Kinds that a store counts, or that an instance counts after the end of its calls. */
const lastingKinds: readonly LedgerKind[] = [
  'sessions',
  'ended_sessions',
  'uris',
  'tasks',
  'states',
  'bytes',
  'streams',
  'topics',
]

/** The keys of states. A fleet rotates them, so each version of the server seals with another one. */
const stateKeys = [
  '790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef',
  'c1f0d7a4b6e95832907c4de1f3ba6658c2d9e07415fa8b36d4270e9c51ab83f6',
]

/**
 * Starts an instance with a version of the server: 1 or 2. A deployment runs both at once. It must run as a part of the
 * process `host`.
 */
export function startInstance(host: Host, version: number, deps: InstanceDeps): Instance {
  const { services, defects, report, trace, hardLimit } = deps
  const store: StateStore = services.storeOf()
  const bus = services.busOf(host)
  const session = sessions({
    state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } satisfies SessionItems },
    store,
  })
  const server = createServer({
    name: 'fleet',
    version: `${version}.0.0`,
    state: sealedState({ keys: version === 1 ? stateKeys : stateKeys.toReversed() }),
    tools: createTools({
      version,
      effects: services.effects,
      report,
      session,
      pickItems: services.pickItems,
    }),
    resources: [board],
    shedding: { hardLimit: { running: hardLimit } },
    use: defects.middleware === undefined ? [] : [defects.middleware],
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
  defects.breakLedger?.(server.ledger)
  const auth = (request: { header(name: string): string | undefined }) => {
    const subject = request.header('x-caller')
    return subject === undefined ? undefined : { subject }
  }
  const handle = httpHandler(server, { auth })
  // Starts the worker of tasks, as a host with `/readyz` does.
  void server.ready()
  const kinds = Object.keys(ledgerBounds) as LedgerKind[]
  return {
    host,
    server,
    handle,
    countUsage: () =>
      kinds
        .filter((kind) => !lastingKinds.includes(kind) && server.ledger.usedInAll(kind) !== 0)
        .map((kind) => `${server.ledger.usedInAll(kind)} ${kind}`),
  }
}
