import type { Instance } from './instance.ts'
import type { SimulatedCall } from './workload.ts'
import type { Balancer, SimulationOptions } from './options.ts'

/** Chooses the instance of a request. Returns undefined if there is none. */
export type Choose = (call: SimulatedCall) => Instance | undefined

/** Creates a balancer over instances. It excludes instances that are not ready. */
export function createBalancer(
  { balancer }: Pick<SimulationOptions, 'balancer'>,
  instances: readonly Instance[],
): Choose {
  const choose = kinds[balancer](instances)
  const any = kinds['round-robin'](instances)
  return (call) => choose(call) ?? any(call) ?? instances[0]
}

function isAvailable(instance: Instance | undefined): instance is Instance {
  return instance?.isInRotation === true
}

const kinds: Readonly<Record<Balancer, (instances: readonly Instance[]) => Choose>> = {
  'round-robin': (instances) => {
    let last = 0
    return () => {
      for (let count = 0; count < instances.length; count++) {
        last = (last + 1) % instances.length
        const instance = instances[last]
        if (isAvailable(instance)) return instance
      }
      return undefined
    }
  },
  // The cluster module of Node hands the next connection to a process that has accepted its previous one, in turn. So a
  // process with a slow event loop receives fewer. If none has, the first process to run its event loop accepts it.
  cluster: (instances) => {
    let last = 0
    return () => {
      let best: Instance | undefined
      for (let count = 1; count <= instances.length; count++) {
        const instance = instances[(last + count) % instances.length]
        if (isAvailable(instance) && (best === undefined || isSooner(instance, best))) best = instance
      }
      if (best !== undefined) last = best.index
      return best
    }
  },
  // Each client has an instance, and another one while that instance is unavailable.
  hash:
    (instances) =>
    ({ salt }) => {
      for (let count = 0; count < instances.length; count++) {
        const instance = instances[(salt + count * 7) % instances.length]
        if (isAvailable(instance)) return instance
      }
      return undefined
    },
}

function isSooner(a: Instance, b: Instance): boolean {
  if (a.receivedCount !== b.receivedCount) return a.receivedCount < b.receivedCount
  return a.receivedCount > 0 && a.running < b.running
}

/** Returns the instance where one more call is fastest. Only an oracle knows it. */
export function leastLoaded(instances: readonly Instance[]): Instance | undefined {
  let best: Instance | undefined
  for (const instance of instances) {
    if (isAvailable(instance) && (best === undefined || loadWith(instance, 1) < loadWith(best, 1))) best = instance
  }
  return best
}

/** Returns the load of an instance with additional calls. */
export function loadWith({ running, connections, slowness }: Instance, more: number): number {
  return (Math.max(running, connections) + more) * slowness
}
