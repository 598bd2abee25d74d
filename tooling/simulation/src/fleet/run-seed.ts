import { randomFrom } from '@tooling/vitest/random'
import { type ClientKind, runClient } from './clients/clients.ts'
import { type DefectName, defects } from './defects.ts'
import { createFaults, type Faults } from './faults/faults.ts'
import { scheduleOperations } from './faults/operations.ts'
import { createFleet, type Fleet } from './fleet/fleet.ts'
import type { ReportViolation, Violation } from './invariants/violations.ts'
import { createBalancer } from './network/balancer.ts'
import { createNetwork } from './network/network.ts'
import type { VirtualTime } from './platform/virtual-time.ts'
import { createServices } from './services/services.ts'
import { createTrace, type Trace, type TraceLine } from './trace.ts'

/** The outcome of one simulation. */
export interface SeedReport {
  readonly seed: number
  readonly virtualMs: number
  readonly events: number
  readonly completed: number
  readonly failed: number
  readonly faults: ReadonlyMap<string, number>
  readonly violations: readonly Violation[]
  readonly trace: readonly TraceLine[]
}

/** A simulation of one seed. */
export interface SeedRun {
  readonly seed: number
  readonly defect: DefectName | undefined
  readonly time: VirtualTime
  /** Calls a function for each unhandled rejection, until the returned function is called. */
  readonly onUnhandledRejection: (listener: (error: unknown) => void) => () => void
}

/** The minimum and maximum duration of the faults, in milliseconds. */
const faultDurations = { minMs: 5000, maxMs: 40_000 }

/** The time in milliseconds after the faults within which the fleet must recover. */
const recoveryMs = 30_000

/** The time in milliseconds after the recovery within which all calls must end. */
const endMs = 15 * 60_000

/**
 * The time in milliseconds after the last call within which the instances finish abandoned calls. A closed connection
 * is detected after 15 seconds, a request to a store times out after 10 seconds, and a stream is then kept for 60
 * seconds.
 */
const quietMs = 120_000

/** The clients of a fleet. Each seed has one of these lists. */
const clientMixes: readonly (readonly ClientKind[])[] = [
  ['polling', 'listening', 'older'],
  ['older', 'older', 'older', 'older'],
  ['polling', 'polling', 'listening'],
  ['session', 'session', 'subscriber'],
]

/** The maximum number of running calls of an instance. Each seed has one of these limits. */
const hardLimits = [100, 100, 2]

/** The share of clients that are killed during the faults. */
const killedShare = 0.1

/** Returns true for each fifth seed. In these, services return from outages with an earlier state. */
const losesWrites = (seed: number): boolean => seed % 5 === 3

/** The instances of a fleet. */
const instanceCount = 3

/** Runs a whole fleet from one seed, until every call has ended or an invariant is broken. */
export async function runSeed({ onUnhandledRejection, ...seedRun }: SeedRun): Promise<SeedReport> {
  const simulation = createSimulation(seedRun)
  const { report } = simulation
  const stopListening = onUnhandledRejection((error) =>
    report('rejections', error instanceof Error ? `${error.stack}` : String(error)),
  )
  await runToEnd(simulation)
  stopListening()
  const { time, faults, trace, violations, counts } = simulation
  return {
    seed: seedRun.seed,
    virtualMs: time.now(),
    ...counts,
    faults: faults.counts,
    violations,
    trace: trace.lines,
  }
}

interface Simulation {
  readonly time: VirtualTime
  readonly faults: Faults
  readonly fleet: Fleet
  readonly trace: Trace
  readonly report: ReportViolation
  readonly violations: readonly Violation[]
  readonly recoveredAt: number
  readonly counts: { events: number; completed: number; failed: number; runningClients: number }
}

/** Creates the services, instances and clients of a seed, and schedules the faults. */
function createSimulation({ seed, defect, time }: Omit<SeedRun, 'onUnhandledRejection'>): Simulation {
  const random = randomFrom(seed)
  const trace = createTrace(time.now)
  const violations: Violation[] = []
  const report: ReportViolation = (invariant, detail) => {
    trace.add('-', `VIOLATION of ${invariant}: ${detail}`)
    violations.push({ invariant, atMs: time.now(), detail: trace.shorten(detail) })
  }
  const faults = createFaults(random, time, trace)
  const balancer = createBalancer()
  const network = createNetwork(time, faults, balancer)
  const shared = { time, faults, trace, report, defects: defect === undefined ? {} : defects[defect] }
  const services = createServices(shared)
  const hardLimit = hardLimits[Math.floor(random() * hardLimits.length)] ?? 100
  const fleet = createFleet({ ...shared, network, balancer, services, hardLimit })
  for (let index = 0; index < instanceCount; index += 1) fleet.start()
  scheduleOperations({ time, faults, fleet, services, losesWrites: losesWrites(seed) })
  const faultyMs = faultDurations.minMs + random() * (faultDurations.maxMs - faultDurations.minMs)
  const recoveredAt = faultyMs + recoveryMs
  time.schedule(undefined, faultyMs, faults.end)
  const clientKinds = clientMixes[Math.floor(random() * clientMixes.length)] ?? []
  const counts = { events: 0, completed: 0, failed: 0, runningClients: clientKinds.length }
  const context = { ...shared, network, services, recoveredAt, counts }
  clientKinds.forEach((kind, index) => {
    const host = time.addHost(`${'abcdef'[index]}-${kind}`)
    let isRunning = true
    const end = (): void => {
      if (isRunning) counts.runningClients -= 1
      isRunning = false
    }
    time.schedule(host, 0, () => {
      runClient(host, kind, context).then(end, (error: unknown) =>
        report('calls', `${host.name} failed: ${String(error)}`),
      )
    })
    if (random() < killedShare)
      time.schedule(undefined, random() * faultyMs, () => {
        if (!isRunning) return
        faults.record(host.name, 'client_killed')
        host.state = 'dead'
        network.breakConnections(host)
        end()
      })
  })
  return { time, faults, fleet, trace, report, violations, recoveredAt, counts }
}

/** Runs events until every client has ended, and then until all instances must be idle. */
async function runToEnd({ time, fleet, report, violations, recoveredAt, counts }: Simulation): Promise<void> {
  const runUntil = async (isOver: () => boolean): Promise<void> => {
    while (violations.length === 0 && !isOver() && (await time.step())) counts.events += 1
  }
  const deadline = recoveredAt + endMs
  await runUntil(() => counts.runningClients === 0 || time.now() > deadline)
  if (violations.length > 0) return
  if (counts.runningClients > 0) return report('calls', `${counts.runningClients} clients have calls that never ended`)
  const quietAt = time.now() + quietMs
  await runUntil(() => time.now() > quietAt)
  for (const instance of fleet.instances)
    for (const usage of instance.countUsage()) report('quotas', `${instance.host.name} still counts ${usage}`)
}

export { defects }
