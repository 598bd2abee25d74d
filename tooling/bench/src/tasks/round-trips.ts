import { type Client, createClient } from '@x/client'
import { withTasks } from '@x/tasks/client'
import type { Store } from './stores.ts'
import { checkResult, checkServer, host } from './task-runner.ts'
import { openServer } from './task-server.ts'

/** What a call took in one round, one call at a time. */
export interface RoundTrip {
  readonly name: string
  readonly milliseconds: number
  /** Microseconds of CPU of this process, for one call. */
  readonly cpuPerCall: number
}

/** How long a round lasts, for each way to call: until so many calls were made, or the time is over. */
export interface RoundPlan {
  readonly calls: number
  readonly milliseconds: number
  readonly concurrency: number
  /** What the server tells clients to leave between two looks, in milliseconds. */
  readonly pollIntervalMs: number
}

/** Milliseconds between two looks of the client that does not wait as long as it is told to. */
const hurriedMs = 10

/** One round of calls of the same tool: by a client without tasks, and by clients that follow its task in different ways. */
export async function measureRoundTrips({ openEngine }: Store, plan: RoundPlan): Promise<readonly RoundTrip[]> {
  const { concurrency, pollIntervalMs } = plan
  const watched = openServer(openEngine, { concurrency, pollIntervalMs })
  const connect = () => createClient(watched.exchange, host)
  const ways: readonly (readonly [string, Client])[] = [
    ['plain call', connect()],
    ['task, listening', withTasks(connect(), { follow: 'listen' })],
    [`task, looking every ${hurriedMs} ms`, withTasks(connect(), { polling: { mostMs: hurriedMs } })],
    [`task, looking every ${pollIntervalMs} ms`, withTasks(connect())],
  ]
  try {
    const measured: RoundTrip[] = []
    for (const [name, client] of ways) measured.push(await measureCalls(name, client, plan))
    checkServer(watched, [])
    return measured
  } finally {
    await watched.server.closeTasks({ graceMs: 1000 })
  }
}

async function measureCalls(name: string, client: Client, plan: RoundPlan): Promise<RoundTrip> {
  // The engine is opened by the first call, and code is compiled; whoever waits a second for each need not wait for that.
  const warmUps = name.startsWith('task, looking') ? 1 : 20
  for (let made = 0; made < warmUps; made += 1) await callOnce(client, `${name} warm ${made}`)
  const before = process.cpuUsage()
  const start = performance.now()
  let [calls, elapsed] = [0, 0]
  while (calls < plan.calls && elapsed < plan.milliseconds) {
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
