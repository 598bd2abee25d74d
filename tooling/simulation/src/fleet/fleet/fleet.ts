import type { Balancer } from '../network/balancer.ts'
import type { Network } from '../network/network.ts'
import type { Services } from '../services/services.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { type Instance, startInstance } from './instance.ts'

/** The instances of a server behind a balancer. */
export interface Fleet {
  /** The instances that have not ended. */
  readonly instances: readonly Instance[]
  start(): void
  /** Ends an instance immediately, as SIGKILL does. */
  kill(instance: Instance): void
  /** Stops an instance as `serveHttp` does after SIGTERM. */
  stop(instance: Instance): void
  /** Suspends an instance for a time, as SIGSTOP does. */
  freeze(instance: Instance, ms: number): void
}

interface FleetDeps extends SimulationContext {
  readonly network: Network
  readonly balancer: Balancer
  readonly services: Services
  readonly hardLimit: number
}

/**
 * The greatest difference between the clock of an instance and the true time, in milliseconds. The clocks of two
 * instances may differ by twice as much. The state codec tolerates 30 seconds.
 */
const maxClockOffsetMs = 14_500

/** The time in milliseconds until a balancer excludes an instance that has ended or is stopping. */
const noticedMs = 500

/** The time in milliseconds that running calls have when their instance stops. */
const graceMs = 5000

/** The time in milliseconds after the grace period within which an instance must stop. */
const closeMs = 2000

/** Creates a fleet without instances. */
export function createFleet(deps: FleetDeps): Fleet {
  const { time, faults, network, balancer, trace } = deps
  const instances: Instance[] = []
  let startCount = 0
  const end = (instance: Instance): void => {
    instances.splice(instances.indexOf(instance), 1)
    instance.host.state = 'dead'
    network.breakConnections(instance.host)
    time.schedule(undefined, noticedMs, () => balancer.remove(instance.host))
  }
  return {
    instances,
    start: () => {
      startCount += 1
      const clockOffsetMs = Math.round((faults.random() * 2 - 1) * maxClockOffsetMs)
      const version = 1 + (startCount % 2)
      const host = time.addHost(`server-${startCount}`, clockOffsetMs)
      trace.add(host.name, `starts version ${version}, its clock differs by ${clockOffsetMs} ms`)
      time.schedule(host, 0, () => {
        const instance = startInstance(host, version, deps)
        instances.push(instance)
        balancer.add(instance)
      })
    },
    kill: (instance) => {
      faults.record(instance.host.name, 'killed')
      end(instance)
    },
    stop: (instance) => {
      faults.record(instance.host.name, 'stopped')
      time.schedule(undefined, noticedMs, () => balancer.remove(instance.host))
      time.schedule(instance.host, 0, () => void stopGracefully(instance, deps).then(() => end(instance)))
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

/** Hands running calls off, waits for those that continue, and closes the server. */
async function stopGracefully({ host, server }: Instance, { time, report }: FleetDeps): Promise<void> {
  const startedAt = time.now()
  const wasFrozen = host.frozenCount
  server.drain({ graceMs })
  while (server.load.running > 0 && time.now() - startedAt < graceMs) await pause(20)
  const closingAt = time.now()
  await server.close({ graceMs })
  const tookMs = time.now() - closingAt
  if (host.frozenCount === wasFrozen && tookMs > graceMs + closeMs)
    report('stops', `close of ${host.name} took ${Math.round(tookMs)} ms`)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
