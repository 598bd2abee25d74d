import { randomFrom } from '@tooling/vitest/random'
import { type ClientKind, startClients } from './clients/clients.ts'
import { createFaults } from './faults/faults.ts'
import { scheduleOperations, scheduleRotation } from './faults/operations.ts'
import { createServers, type ServerName, type Servers } from './fleet/servers.ts'
import { checkIdle, checkReady } from './invariants/check-instances.ts'
import type { ReportViolation, Violation } from './invariants/violations.ts'
import type { VirtualTime } from './platform/virtual-time.ts'
import { createServices } from './services/services.ts'
import type { SimulationContext } from './simulation-context.ts'
import { createTrace, type TraceLine } from './trace.ts'

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
  readonly time: VirtualTime
  /** Calls a function for each unhandled rejection, until the returned function is called. */
  readonly onUnhandledRejection: (listener: (error: unknown) => void) => () => void
}

/** The minimum and maximum duration of the faults, in milliseconds at the pace of seconds. */
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
const clientMixes: readonly { readonly kinds: readonly ClientKind[]; readonly server: ServerName }[] = [
  { kinds: ['polling', 'listening', 'older'], server: 'fleet' },
  { kinds: ['older', 'older', 'older', 'older'], server: 'fleet' },
  { kinds: ['polling', 'polling', 'listening'], server: 'fleet' },
  { kinds: ['session', 'session', 'subscriber'], server: 'fleet' },
  { kinds: ['polling', 'polling', 'listening'], server: 'gateway' },
]

/** The maximum number of running calls of an instance. Each seed has one of these limits. */
const hardLimits = [100, 100, 2]

/**
 * What happens with some seeds: services return with an earlier state, a key is retired, instances are only replaced, and
 * seconds become minutes.
 */
const losesWrites = (seed: number): boolean => seed % 5 === 3
const onlyDeploys = (seed: number): boolean => seed % 5 === 4
const retiresKey = (seed: number): boolean => seed % 5 === 1
const paceOf = (seed: number): number => (seed % 7 === 2 ? 20 : 1)

/** Runs a whole fleet from one seed, until every call has ended or an invariant is broken. */
export async function runSeed({ onUnhandledRejection, ...seedRun }: SeedRun): Promise<SeedReport> {
  const simulation = createSimulation(seedRun)
  const { report } = simulation
  const stopListening = onUnhandledRejection((error) =>
    report('rejections', error instanceof Error ? `${error.stack}` : String(error)),
  )
  await runToEnd(simulation)
  const { time, faults, trace, violations, counts, fleets, network } = simulation
  for (const { host } of fleets.flatMap(({ instances }) => instances)) time.remove(host)
  network.close()
  await time.settle()
  stopListening()
  return {
    seed: seedRun.seed,
    virtualMs: time.now(),
    ...counts,
    faults: faults.counts,
    violations,
    trace: trace.lines,
  }
}

interface Simulation extends SimulationContext, Pick<Servers, 'fleets' | 'network'> {
  readonly violations: readonly Violation[]
  readonly recoveredAt: number
  readonly counts: { events: number; completed: number; failed: number; runningClients: number }
}

/** Creates the services, instances and clients of a seed, and schedules the faults. */
function createSimulation({ seed, time }: Omit<SeedRun, 'onUnhandledRejection'>): Simulation {
  const random = randomFrom(seed)
  const trace = createTrace(time.now)
  const violations: Violation[] = []
  const report: ReportViolation = (invariant, detail) => {
    trace.add('-', `VIOLATION of ${invariant}: ${detail}`)
    violations.push({ invariant, atMs: time.now(), detail: trace.shorten(detail) })
  }
  const shared = {
    time,
    faults: createFaults(random, { time, trace, isCalm: onlyDeploys(seed) }),
    trace,
    report,
    pace: paceOf(seed),
  }
  const { faults, pace } = shared
  const services = createServices(shared)
  const { kinds, server } = clientMixes[Math.floor(random() * clientMixes.length)] ?? {
    kinds: [],
    server: 'fleet' as const,
  }
  const hardLimit = hardLimits[Math.floor(random() * hardLimits.length)] ?? 100
  const { fleets, network, upstreamPaths, rotation } = createServers({ ...shared, services, hardLimit, server })
  const operations = {
    ...shared,
    fleets,
    services,
    paths: upstreamPaths,
    losesWrites: losesWrites(seed),
    onlyDeploys: onlyDeploys(seed),
  }
  scheduleOperations(operations)
  if (retiresKey(seed)) scheduleRotation(operations, rotation)
  const faultyMs = pace * (faultDurations.minMs + random() * (faultDurations.maxMs - faultDurations.minMs))
  const recoveredAt = faultyMs + pace * recoveryMs
  time.schedule(undefined, faultyMs, faults.end)
  time.schedule(undefined, recoveredAt, () => checkReady(fleets, report))
  const counts = { events: 0, completed: 0, failed: 0, runningClients: kinds.length }
  startClients(
    kinds,
    { ...shared, network, services, recoveredAt, counts, server, taskIds: [], onlyDeploys: onlyDeploys(seed) },
    faultyMs,
  )
  return { ...shared, fleets, network, violations, recoveredAt, counts }
}

/** Runs events until every client has ended, and then until all instances must be idle. */
async function runToEnd({ time, fleets, report, violations, recoveredAt, counts, pace }: Simulation): Promise<void> {
  const runUntil = async (isOver: () => boolean): Promise<void> => {
    while (violations.length === 0 && !isOver() && (await time.step())) counts.events += 1
  }
  const deadline = recoveredAt + pace * endMs
  await runUntil(() => counts.runningClients === 0 || time.now() > deadline)
  if (violations.length > 0) return
  if (counts.runningClients > 0) return report('calls', `${counts.runningClients} clients have calls that never ended`)
  const quietAt = time.now() + quietMs
  await runUntil(() => time.now() > quietAt)
  checkIdle(fleets, report)
}
