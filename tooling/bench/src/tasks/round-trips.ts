import { type Client, createClient } from '@x/client'
import { tasksClient, type TasksClientOptions } from '@x/tasks/client'
import type { Store } from './stores.ts'
import { checkResult, checkServer, host } from './task-runner.ts'
import { openServer } from './task-server.ts'

/** The cost of a call in one round, one call at a time. */
export interface RoundTrip {
  readonly name: string
  readonly milliseconds: number
  /** Microseconds of CPU of this process per call. */
  readonly cpuPerCall: number
}

/** The length of a round, for each variant of the call. It ends after a number of tasks, or after a time. */
export interface RoundPlan {
  readonly calls: number
  readonly milliseconds: number
  readonly concurrency: number
  /** The poll interval that the server returns to clients. */
  readonly pollIntervalMs: number
}

/** A short poll interval in milliseconds, for a client that ignores the interval of the server. */
const shortPollMs = 10

/**
 * Measures one round of calls of the same tool. One client does not support tasks, and the others follow the task by
 * listening or by polling.
 */
export async function measureRoundTrips({ openEngine }: Store, plan: RoundPlan): Promise<readonly RoundTrip[]> {
  const { concurrency, pollIntervalMs } = plan
  const observed = openServer(openEngine, { concurrency, pollIntervalMs })
  const follow = (options?: TasksClientOptions) =>
    createClient(observed.exchange, { ...host, extensions: [tasksClient(options)] })
  const bounds = { calls: plan.calls, milliseconds: plan.milliseconds }
  const variants: readonly CallVariant[] = [
    {
      ...bounds,
      name: 'plain call',
      client: createClient(observed.exchange, host),
      warmUps: 200,
      calls: Number.POSITIVE_INFINITY,
    },
    { ...bounds, name: 'task, listening', client: follow({ follow: 'listen' }), warmUps: 20 },
    {
      ...bounds,
      name: `task, polling every ${shortPollMs} ms`,
      client: follow({ polling: { maxMs: shortPollMs } }),
      warmUps: 1,
    },
    { ...bounds, name: `task, polling every ${pollIntervalMs} ms`, client: follow(), warmUps: 0 },
  ]
  try {
    const measured: RoundTrip[] = []
    for (const variant of variants) measured.push(await measureCalls(variant))
    checkServer(observed, [])
    return measured
  } finally {
    await observed.server.close({ graceMs: 1000 })
  }
}

/** A variant of the call, with the length of its measurement. */
interface CallVariant {
  readonly name: string
  readonly client: Client
  readonly calls: number
  readonly milliseconds: number
  /** Calls before the measured ones. The first call that creates a task opens the engine. */
  readonly warmUps: number
}

async function measureCalls({ name, client, ...variant }: CallVariant): Promise<RoundTrip> {
  for (let made = 0; made < variant.warmUps; made += 1) await callOnce(client, `${name} warm ${made}`)
  const before = process.cpuUsage()
  const start = performance.now()
  let [calls, elapsed] = [0, 0]
  while (calls < variant.calls && elapsed < variant.milliseconds) {
    await callOnce(client, `${name} ${calls}`)
    calls += 1
    elapsed = performance.now() - start
  }
  const { user, system } = process.cpuUsage(before)
  return { name, milliseconds: elapsed / calls, cpuPerCall: (user + system) / calls }
}

async function callOnce(client: Client, token: string): Promise<void> {
  checkResult(token, await client.callTool('work', { token }))
}
