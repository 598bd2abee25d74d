import type { Instance } from './instance.ts'
import type { SimulatedCall } from './workload.ts'
import type { Balancer } from './options.ts'

/** Chooses the instance of a request. */
export type Choose = (call: SimulatedCall) => Instance | undefined

/** Functions that create a balancer over instances. */
export const balancers: Readonly<Record<Balancer, (instances: readonly Instance[]) => Choose>> = {
  'round-robin': (instances) => {
    let last = 0
    return () => instances[(last = (last + 1) % instances.length)]
  },
  // The cluster module of Node hands the next connection to a process that has accepted its previous one, in turn. So a
  // process with a slow event loop receives fewer. If none has, the first process to run its event loop accepts it.
  cluster: (instances) => {
    let last = 0
    return () => {
      const inTurn = [...instances.slice(last + 1), ...instances.slice(0, last + 1)]
      const best = inTurn.reduce((found, instance) => (isSooner(instance, found) ? instance : found))
      last = best.index
      return best
    }
  },
  // Each client has an instance.
  hash:
    (instances) =>
    ({ salt }) =>
      instances[salt % instances.length],
}

function isSooner(a: Instance, b: Instance): boolean {
  if (a.receivedCount !== b.receivedCount) return a.receivedCount < b.receivedCount
  return a.receivedCount > 0 && a.running < b.running
}

/** Returns the instance where one more call is fastest. Only an oracle knows it. */
export function leastLoaded(instances: readonly Instance[]): Instance {
  return instances.reduce((best, instance) => (loadWith(instance, 1) < loadWith(best, 1) ? instance : best))
}

/** Returns the load of an instance with additional calls. */
export function loadWith({ running, connections, slowness }: Instance, more: number): number {
  return (Math.max(running, connections) + more) * slowness
}
