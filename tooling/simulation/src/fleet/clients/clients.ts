import { setTimeout as pause } from 'node:timers/promises'
import { createClient, type Client } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { sessionsClient } from '@x/sessions/client'
import { tasksClient } from '@x/tasks/client'
import { connectHttp } from '@x/transport-http/client'
import { upstreamNames } from '../fleet/gateway.ts'
import { callerHeader } from '../fleet/instance.ts'
import type { ServerName } from '../fleet/servers.ts'
import { answerTo, boardUri } from '../fleet/tools.ts'
import type { Network } from '../network/network.ts'
import { urlOf } from '../network/ports.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { Services } from '../services/services.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { expectedText, type ToolName } from './workload.ts'

/** The kinds of clients that call tools with questions. `older` uses revision 2025-11-25. */
type CallingKind = 'polling' | 'listening' | 'older'

/** The kinds of clients. */
export type ClientKind = CallingKind | 'session' | 'subscriber'

/** The parts of a simulation that a client needs. */
export interface ClientContext extends SimulationContext {
  readonly network: Network
  readonly services: Services
  /** The time from which the fleet must work again after the faults. */
  readonly recoveredAt: number
  readonly counts: { completed: number; failed: number; runningClients: number }
  readonly server: ServerName
  /** The ids of tasks that clients have received. */
  readonly taskIds: string[]
}

/** The longest time until the user answers, in milliseconds. */
const maxAnswerMs = 3000

/** The longest time between two calls, in milliseconds. */
const maxPauseMs = 4000

/** The calls of each client during the faults, and after them. */
const faultyCalls = 4
const healthyCalls = 2

/** The longest time from the end of a task to the result at a client that listens, in milliseconds. */
const maxLatencyMs = 2000

/** Runs a client until its calls have ended. It must run as a part of the process `host`. */
export function runClient(host: Host, kind: ClientKind, context: ClientContext): Promise<void> {
  if (kind === 'session') return runSessionClient(host, context)
  return kind === 'subscriber' ? runSubscriber(host, context) : runCallingClient(host, kind, context)
}

async function runCallingClient(host: Host, kind: CallingKind, context: ClientContext): Promise<void> {
  const { time, faults, trace, recoveredAt, taskIds, server, pace } = context
  let lastTaskId: string | undefined
  const ownTaskIds = new Set<string>()
  const onTask = (id: string): void => {
    lastTaskId = id
    ownTaskIds.add(id)
    taskIds.push(id)
  }
  await using client = createSimulatedClient(host, kind, { context, onTask })
  for (let index = 1; index <= faultyCalls + healthyCalls; index += 1) {
    const isHealthy = index > faultyCalls
    if (isHealthy) await pause(recoveredAt - time.now())
    await pause(pace * faults.random() * maxPauseMs)
    const name = `${host.name}.${index}`
    const tool = pickTool(kind, faults.random)
    trace.add(host.name, `calls ${tool} ${name}`)
    lastTaskId = undefined
    const prefix = server === 'gateway' ? `${upstreamNames[index % 2]}__` : ''
    const outcome = await callOnce(async () => client, `${prefix}${tool}`, name)
    trace.add(host.name, `${name}: ${outcome.text ?? String(outcome.error)}`)
    checkOutcome({ tool, name, isHealthy, outcome }, context)
    if (kind === 'polling') await readForeignTasks(client, ownTaskIds, context)
    if (isHealthy && kind === 'listening' && lastTaskId !== undefined) checkLatency(lastTaskId, name, context)
  }
}

interface SimulatedClientOptions {
  readonly context: ClientContext
  readonly onTask: (id: string) => void
}

function createSimulatedClient(host: Host, kind: CallingKind, { context, onTask }: SimulatedClientOptions): Client {
  const { network, faults, trace, report, server, pace } = context
  const url = urlOf(server)
  const http = { fetch: network.fetchFor(host), headers: { [callerHeader]: host.name } }
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
async function readForeignTasks(client: Client, own: ReadonlySet<string>, { taskIds, report }: ClientContext): Promise<void> {
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

/** The error of a session that no instance can open any more. */
const lostSession = /session is not known|session not found/iu

/** Runs a client whose calls add items to one session. Only calls with a result may have added an item. */
async function runSessionClient(host: Host, context: ClientContext): Promise<void> {
  const { network, time, faults, trace, report, counts, recoveredAt, services, pace, server } = context
  const url = urlOf(server)
  const http = { fetch: network.fetchFor(host), headers: { [callerHeader]: host.name } }
  const extensions = [sessionsClient()]
  await using client = createClient(connectHttp(url, http), { name: host.name, version: '1.0.0', extensions })
  let session: Pick<Client, 'callTool'> | undefined
  let items: string[] = []
  for (let index = 1; index <= faultyCalls + healthyCalls; index += 1) {
    const isHealthy = index > faultyCalls
    if (isHealthy) await pause(recoveredAt - time.now())
    await pause(pace * faults.random() * maxPauseMs)
    const name = `${host.name}.${index}`
    const add = async (): Promise<Outcome> => {
      trace.add(host.name, `adds ${name}`)
      const outcome = await callOnce(async () => (session ??= await client.sessions.create()), 'add', name)
      trace.add(host.name, `${name}: ${outcome.text ?? String(outcome.error)}`)
      if (!lostSession.test(String(outcome.error))) return outcome
      // A key was retired, or the session has expired.
      session = undefined
      items = []
      return add()
    }
    const { text, error } = await add()
    if (text === undefined) {
      countFailure({ tool: 'add', name, isHealthy, outcome: { error } }, context)
      continue
    }
    counts.completed += 1
    items.push(name)
    if (text !== items.join(' ') && !services.hasStoreLostWrites)
      report('sessions', `${name} returned "${text}" instead of "${items.join(' ')}"`)
  }
}

/** The longest pause before a stream of changes is opened again, in milliseconds. */
const maxReopenMs = 5000

/**
 * The time in milliseconds within which a stream must be acknowledged. It is shorter than the recovery of the fleet.
 */
const acknowledgeMs = 15_000

/** Runs a client that subscribes to the board, and that also changes the board. */
async function runSubscriber(host: Host, context: ClientContext): Promise<void> {
  const { network, time, faults, trace, report, recoveredAt, pace, server } = context
  const url = urlOf(server)
  const http = { fetch: network.fetchFor(host), headers: { [callerHeader]: host.name } }
  const options = { name: host.name, version: '1.0.0', timeoutMs: acknowledgeMs }
  await using client = createClient(connectHttp(url, http), options)
  const controller = new AbortController()
  let lastEventAt = Number.NEGATIVE_INFINITY
  const listen = async (): Promise<void> => {
    const listenOptions = {
      signal: controller.signal,
      reopen: { maxPauseMs: maxReopenMs, attempts: Number.POSITIVE_INFINITY },
    }
    for await (const { type } of client.listen({ resourceSubscriptions: [boardUri] }, listenOptions)) {
      trace.add(host.name, `receives ${type}`)
      if (type !== 'interrupted') lastEventAt = time.now()
    }
  }
  const listening = listen().catch(() => {})
  for (let index = 1; index <= faultyCalls + healthyCalls; index += 1) {
    const isHealthy = index > faultyCalls
    if (isHealthy) await pause(recoveredAt + 2 * maxReopenMs - time.now())
    await pause(pace * faults.random() * maxPauseMs)
    const name = `${host.name}.${index}`
    trace.add(host.name, `changes ${name}`)
    const changedAt = time.now()
    const outcome = await callOnce(async () => client, 'change', name)
    checkOutcome({ tool: 'change', name, isHealthy, outcome }, context)
    await pause(maxLatencyMs)
    if (isHealthy && lastEventAt < changedAt) report('changes', `${host.name} has not received the change ${name}`)
  }
  controller.abort()
  await listening
}

/** The outcome of a call: the text of its result, or its error. */
interface Outcome {
  readonly text?: string
  readonly error?: unknown
}

type OpenClient = () => Promise<Pick<Client, 'callTool'>>

async function callOnce(open: OpenClient, tool: string, name: string): Promise<Outcome> {
  try {
    const client = await open()
    const { content, isError } = await client.callTool(tool, { name })
    const [block] = content
    const text = block?.type === 'text' ? block.text : JSON.stringify(content)
    return isError === true ? { error: new Error(text) } : { text }
  } catch (error) {
    return { error }
  }
}

interface EndedCall {
  readonly tool: ToolName
  readonly name: string
  readonly isHealthy: boolean
  readonly outcome: Outcome
}

function checkOutcome({ tool, name, isHealthy, outcome }: EndedCall, context: ClientContext): void {
  const { services, report, counts } = context
  if (outcome.text === undefined) return countFailure({ tool, name, isHealthy, outcome }, context)
  counts.completed += 1
  const expected = expectedText(tool, name, services.effects)
  if (outcome.text !== expected) report('calls', `${tool} ${name} returned "${outcome.text}" instead of "${expected}"`)
}

/** The errors that say why a call has failed, and those that a peer cannot understand. */
const explainedErrors = /^(?:ClientError|TaskError): /u
const unexplainedErrors = /Internal error|is not a function|undefined|Cannot read/u

function countFailure({ tool, name, isHealthy, outcome }: EndedCall, { report, counts }: ClientContext): void {
  counts.failed += 1
  const error = String(outcome.error)
  if (isHealthy) report('calls', `${tool} ${name} failed after the faults had ended: ${error}`)
  if (!explainedErrors.test(error) || unexplainedErrors.test(error)) report('reasons', `${tool} ${name}: ${error}`)
}

function checkLatency(taskId: string, name: string, { services, time, report }: ClientContext): void {
  const endedAt = services.tasks.endedAt.get(taskId)
  const latencyMs = endedAt === undefined ? 0 : time.now() - endedAt
  if (latencyMs > maxLatencyMs)
    report('latency', `${name} had its result ${Math.round(latencyMs)} ms after its task ended`)
}
