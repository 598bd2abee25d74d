import { setTimeout as pause } from 'node:timers/promises'
import { createClient, type Client } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { tasksClient } from '@x/tasks/client'
import { connectHttp } from '@x/transport-http/client'
import { upstreamNames } from '../fleet/gateway.ts'
import { answerTo } from '../fleet/tools.ts'
import { urlOf } from '../network/ports.ts'
import type { Host } from '../platform/virtual-time.ts'
import { callOnce, checkOutcome, type ClientContext, connectOptionsOf, runCalls } from './calls.ts'
import type { ToolName } from './workload.ts'

/** The kinds of clients that call tools with questions. `older` uses revision 2025-11-25. */
export type CallingKind = 'polling' | 'listening' | 'older'

/** The longest time until the user answers, in milliseconds. */
const maxAnswerMs = 3000

/** The longest time from the end of a task to the result at a client that listens, in milliseconds. */
const maxLatencyMs = 2000

/** Runs a client that calls tools with questions. */
export async function runCallingClient(host: Host, kind: CallingKind, context: ClientContext): Promise<void> {
  const { faults, trace, taskIds, server } = context
  let lastTaskId: string | undefined
  const ownTaskIds = new Set<string>()
  const onTask = (id: string): void => {
    lastTaskId = id
    ownTaskIds.add(id)
    taskIds.push(id)
  }
  await using client = createSimulatedClient(host, kind, { context, onTask })
  const call: Parameters<typeof runCalls>[2]['call'] = async ({ name, isHealthy }) => {
    const tool = pickTool(kind, faults.random)
    trace.add(host.name, `calls ${tool} ${name}`)
    lastTaskId = undefined
    const upstream = upstreamNames[Number(name.at(-1)) % 2]
    const outcome = await callOnce(async () => client, server === 'gateway' ? `${upstream}__${tool}` : tool, name)
    trace.add(host.name, `${name}: ${outcome.text ?? String(outcome.error)}`)
    checkOutcome({ tool, name, isHealthy, outcome }, context)
    if (kind === 'polling') await readForeignTasks(client, ownTaskIds, context)
    if (isHealthy && kind === 'listening' && lastTaskId !== undefined) checkLatency(lastTaskId, name, context)
  }
  await runCalls(host, context, { call })
}

interface SimulatedClientOptions {
  readonly context: ClientContext
  readonly onTask: (id: string) => void
}

function createSimulatedClient(host: Host, kind: CallingKind, { context, onTask }: SimulatedClientOptions): Client {
  const { faults, trace, report, server, pace } = context
  const url = urlOf(server)
  const http = connectOptionsOf(host, context)
  const connection =
    kind === 'older' ? connectAny(url, { revision: 'older', http, log: () => {} }) : connectHttp(url, http)
  const follow = kind === 'listening' ? 'listen' : 'poll'
  return createClient(connection, {
    name: host.name,
    version: '1.0.0',
    log: ({ message }) => trace.add(host.name, `log: ${message}`),
    elicit: async ({ message }) => {
      trace.add(host.name, `is asked ${message}`)
      if (!message.startsWith(`${host.name}.`)) report('answers', `${host.name} was asked "${message}"`)
      await pause(pace * faults.random() * maxAnswerMs)
      return { action: 'accept', content: { text: answerTo(message) } }
    },
    extensions: kind === 'older' ? [] : [tasksClient({ follow, onTask: ({ taskId }) => onTask(taskId) })],
  })
}

/** Requests tasks by the ids that other callers have received. */
async function readForeignTasks(
  client: Client,
  own: ReadonlySet<string>,
  { taskIds, report }: ClientContext,
): Promise<void> {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  for (const taskId of taskIds.filter((id) => !own.has(id)).slice(-3)) {
    const isRead = await client.request('tasks/get', { taskId }, { capabilities, targetParam: 'taskId' }).then(
      () => true,
      () => false,
    )
    if (isRead) report('owners', `a client has read task ${taskId} of another`)
  }
}

function pickTool(kind: CallingKind, random: () => number): ToolName {
  const tools: readonly ToolName[] = kind === 'older' ? ['pair', 'pair', 'walk'] : ['pair', 'paint', 'paint', 'walk']
  return tools[Math.floor(random() * tools.length)] ?? 'pair'
}

function checkLatency(taskId: string, name: string, { services, time, report }: ClientContext): void {
  const endedAt = services.tasks.endedAt.get(taskId)
  const latencyMs = endedAt === undefined ? 0 : time.now() - endedAt
  if (latencyMs > maxLatencyMs)
    report('latency', `${name} had its result ${Math.round(latencyMs)} ms after its task ended`)
}
