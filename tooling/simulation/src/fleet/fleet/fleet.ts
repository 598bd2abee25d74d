import { setTimeout as pause } from 'node:timers/promises'
import type { Server } from '@x/exchange'
import type { StopOptions } from '@x/transport-http/node'
import type { Balancer } from '../network/balancer.ts'
import type { Network } from '../network/network.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { SimulationContext } from '../simulation-context.ts'

/** One instance of a server, as a simulated process. */
export interface Instance {
  readonly host: Host
  readonly server: Server
  /** Stops the instance. */
  readonly close: (options: StopOptions) => Promise<void>
}

/** The instances of a server behind a balancer. */
export interface Fleet {
  /** The instances that have not ended. */
  readonly instances: readonly Instance[]
  /** False if other processes start the instances. */
  readonly startsInstances: boolean
  /** Returns the processes that the balancer leaves out, because they have not answered that they are ready. */
  findUnready(): readonly Host[]
  /** Creates a process with a clock of its own. */
  addHost(): Host
  add(instance: Instance): void
  start(): void
  /** Ends an instance immediately, as SIGKILL does. */
  kill(instance: Instance): void
  /** Stops an instance as SIGTERM does. */
  stop(instance: Instance): void
  /** Suspends an instance for a time, as SIGSTOP does. */
  freeze(instance: Instance, ms: number): void
}

interface FleetDeps extends SimulationContext {
  readonly name: string
  readonly network: Network
  readonly balancer: Balancer
  /** True if the balancer requests `/readyz`. Otherwise it takes instances until they have ended. */
  readonly checksReadiness: boolean
  /** Starts a version of the server. Runs as a part of the process. Absent if other processes start the instances. */
  readonly startServer?: (host: Host, version: number) => Promise<Omit<Instance, 'host'>>
}

/**
 * The greatest difference between the clock of an instance and the true time, in milliseconds. The clocks of two
 * instances may differ by twice as much. The state codec tolerates 30 seconds.
 */
const maxClockOffsetMs = 14_500

/** The time in milliseconds until a balancer excludes an instance that has ended or is stopping. */
const noticedMs = 500

/** The time in milliseconds between two readiness checks at each pace, and the time limit of each. */
const readiness = { secondsMs: 2000, minutesMs: 15_000, limitMs: 1000 }

/**
 * The times in milliseconds that an instance has for its stop: still serving, for its calls and again for its tasks, and
 * to close. A step takes up to 5 seconds.
 */
const stopTimes = { noticeMs: [0, 2500], graceMs: 8000, closeMs: 3000 }

/** Creates a fleet without instances. */
export function createFleet(deps: FleetDeps): Fleet {
  const { time, faults, network, balancer, trace, name, startServer } = deps
  const instances: Instance[] = []
  let startCount = 0
  const add = (instance: Instance): void => {
    const { host } = instance
    instances.push(instance)
    host.onRemoved.push(() => {
      instances.splice(instances.indexOf(instance), 1)
      network.breakConnections(host)
      time.schedule(undefined, noticedMs, () => balancer.remove(host))
    })
  }
  const addHost = (): Host => {
    startCount += 1
    const clockOffsetMs = Math.round((faults.random() * 2 - 1) * maxClockOffsetMs)
    trace.add(`${name}-${startCount}`, `starts, its clock differs by ${clockOffsetMs} ms`)
    return time.addHost(`${name}-${startCount}`, clockOffsetMs)
  }
  if (deps.checksReadiness) checkReadiness(deps, instances)
  return {
    instances,
    startsInstances: startServer !== undefined,
    findUnready: () =>
      deps.checksReadiness ? instances.map(({ host }) => host).filter((host) => !balancer.has(host)) : [],
    addHost,
    add,
    start: () => {
      if (startServer === undefined) return
      const host = addHost()
      const version = 1 + (startCount % 2)
      time.schedule(host, 0, async () => {
        add({ host, ...(await startServer(host, version)) })
        balancer.add(host)
      })
    },
    kill: (instance) => {
      faults.record(instance.host.name, 'killed')
      time.remove(instance.host)
    },
    stop: (instance) => {
      faults.record(instance.host.name, 'stopped')
      if (!deps.checksReadiness) time.schedule(undefined, noticedMs, () => balancer.remove(instance.host))
      time.schedule(instance.host, 0, () => void stopInstance(instance, deps).then(() => time.remove(instance.host)))
    },
    freeze: (instance, ms) => {
      faults.record(instance.host.name, 'frozen', `${Math.round(ms)} ms`)
      time.freeze(instance.host)
      time.schedule(undefined, ms, () => {
        trace.add(instance.host.name, 'continues')
        time.thaw(instance.host)
      })
    },
  }
}

async function stopInstance({ host, close }: Instance, { time, faults, report, pace }: FleetDeps): Promise<void> {
  const wasFrozen = host.frozenCount
  const noticeMs = pace * (stopTimes.noticeMs[Math.floor(faults.random() * stopTimes.noticeMs.length)] ?? 0)
  const graceMs = pace * stopTimes.graceMs
  const limitMs = noticeMs + 2 * graceMs + stopTimes.closeMs
  // Not after the stop, which may never end.
  time.schedule(undefined, limitMs, () => {
    if (host.state !== 'dead' && host.frozenCount === wasFrozen)
      report('stops', `the stop of ${host.name} takes longer than ${limitMs} ms`)
  })
  await close({ noticeMs, graceMs })
}

/** Lets the balancer take the instances that answer that they are ready. */
function checkReadiness({ time, network, balancer, pace }: FleetDeps, instances: readonly Instance[]): void {
  const intervalMs = pace === 1 ? readiness.secondsMs : readiness.minutesMs
  const check = async (host: Host): Promise<void> => {
    const limit = pause(readiness.limitMs)
    const status = await Promise.race([network.probe(balancer.host, host, '/readyz'), limit])
    balancer.remove(host)
    if (status === 200 && host.state !== 'dead') balancer.add(host)
  }
  const checkAll = (): void => {
    for (const { host } of instances) void check(host)
    time.schedule(balancer.host, intervalMs, checkAll)
  }
  time.schedule(balancer.host, intervalMs, checkAll)
}
