import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@x/client'
import type { HttpConnectOptions } from '@x/transport-http/client'
import { callerHeader } from '../fleet/instance.ts'
import type { ServerName } from '../fleet/servers.ts'
import type { Network } from '../network/network.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { Services } from '../services/services.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { expectedText, type ToolName } from './workload.ts'

/** The parts of a simulation that a client needs. */
export interface ClientContext extends SimulationContext {
  readonly network: Network
  readonly services: Services
  /** The time from which the fleet must work again after the faults. */
  readonly recoveredAt: number
  readonly counts: { completed: number; failed: number; runningClients: number }
  readonly server: ServerName
  /** True if instances are only replaced. Then every call succeeds, but those of older clients that ask nothing. */
  readonly onlyDeploys: boolean
  /** The ids of tasks that clients have received. */
  readonly taskIds: string[]
}

/** The longest time between two calls, in milliseconds. */
const maxPauseMs = 4000

/** The calls of each client during the faults, and after them. */
const faultyCalls = 4
const healthyCalls = 2

/** One call of a client. */
interface ClientCall {
  /** The name of the call, which is unique in a simulation: `a-polling.3`. */
  readonly name: string
  /** True for a call that begins after the faults. */
  readonly isHealthy: boolean
}

/** Runs the calls of a client in turn. The healthy ones begin some time after the recovery. */
export async function runCalls(
  host: Host,
  { time, faults, recoveredAt, pace }: ClientContext,
  {
    call,
    healthyAfterMs = 0,
  }: { readonly call: (call: ClientCall) => Promise<void>; readonly healthyAfterMs?: number },
): Promise<void> {
  for (let index = 1; index <= faultyCalls + healthyCalls; index += 1) {
    const isHealthy = index > faultyCalls
    if (isHealthy) await pause(recoveredAt + healthyAfterMs - time.now())
    await pause(pace * faults.random() * maxPauseMs)
    await call({ name: `${host.name}.${index}`, isHealthy })
  }
}

/** Returns the options of the connection of a client, with its name. */
export function connectOptionsOf(host: Host, { network }: ClientContext): HttpConnectOptions {
  return { fetch: network.fetchFor(host), headers: { [callerHeader]: host.name } }
}

/** The outcome of a call: the text of its result, or its error. */
export interface Outcome {
  readonly text?: string
  readonly error?: unknown
}

type OpenClient = () => Promise<Pick<Client, 'callTool'>>

/** Calls a tool with the name of the call. */
export async function callOnce(open: OpenClient, tool: string, name: string): Promise<Outcome> {
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

/** A call that has ended. */
interface EndedCall extends ClientCall {
  readonly tool: ToolName
  readonly outcome: Outcome
}

/** Reports a call with a wrong result, or one that may not fail. */
export function checkOutcome({ tool, name, isHealthy, outcome }: EndedCall, context: ClientContext): void {
  const { services, report, counts } = context
  if (outcome.text === undefined) return countFailure({ tool, name, isHealthy, outcome }, context)
  counts.completed += 1
  const expected = expectedText(tool, name, services.effects)
  if (outcome.text !== expected) report('calls', `${tool} ${name} returned "${outcome.text}" instead of "${expected}"`)
}

/** The errors that say why a call has failed, and those that a peer cannot understand. */
const explainedErrors = /^(?:ClientError|TaskError): /u
const unexplainedErrors = /Internal error|is not a function|undefined|Cannot read/u

/** Counts a call without a result, and reports one that may not fail or does not say why. */
export function countFailure(
  { tool, name, isHealthy, outcome }: EndedCall,
  { report, counts, onlyDeploys }: ClientContext,
): void {
  counts.failed += 1
  const error = String(outcome.error)
  const mayFail = !isHealthy && (!onlyDeploys || name.includes('older'))
  if (!mayFail) report('calls', `${tool} ${name} failed although nothing was faulty: ${error}`)
  if (!explainedErrors.test(error) || unexplainedErrors.test(error)) report('reasons', `${tool} ${name}: ${error}`)
}
