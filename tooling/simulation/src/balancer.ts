import type { Instance } from './instance.ts'
import type { SimulatedCall } from './workload.ts'
import type { Balancer, SimulationOptions } from './options.ts'

/** Chooses the instance of a request; undefined while there is none. */
export type Choose = (call: SimulatedCall) => Instance | undefined

/** Makes a balancer over instances. One that is not blind leaves those out that refuse calls or are down. */
export function createBalancer(
  { balancer, isBlind }: Pick<SimulationOptions, 'balancer' | 'isBlind'>,
  instances: readonly Instance[],
  chance: () => number,
): Choose {
  if (isBlind) return () => instances[Math.floor(chance() * instances.length)]
  const choose = kinds[balancer](instances, chance)
  const any = kinds['round-robin'](instances, chance)
  return (call) => choose(call) ?? any(call) ?? instances.find(({ isUp }) => isUp)
}

function isOpen(instance: Instance | undefined): instance is Instance {
  return instance !== undefined && instance.isUp && instance.isOffered
}

const kinds: Readonly<Record<Balancer, (instances: readonly Instance[], chance: () => number) => Choose>> = {
  'round-robin': (instances) => {
    let last = 0
    return () => {
      for (let count = 0; count < instances.length; count++) {
        last = (last + 1) % instances.length
        const instance = instances[last]
        if (isOpen(instance)) return instance
      }
      return undefined
    }
  },
  random: (instances, chance) => () => {
    for (let count = 0; count < 50; count++) {
      const instance = instances[Math.floor(chance() * instances.length)]
      if (isOpen(instance)) return instance
    }
    return undefined
  },
  'least-connections': (instances, chance) => () => {
    const from = Math.floor(chance() * instances.length)
    let best: Instance | undefined
    for (let count = 0; count < instances.length; count++) {
      const instance = instances[(from + count) % instances.length]
      if (isOpen(instance) && (best === undefined || instance.connections < best.connections)) best = instance
    }
    return best
  },
  // Node's own hands the next connection to a process that has taken the one before, in turns: one whose event loop
  // turns slowly gets fewer. While none has, the one that turns soonest takes it.
  cluster: (instances) => {
    let last = 0
    return () => {
      let best: Instance | undefined
      for (let count = 1; count <= instances.length; count++) {
        const instance = instances[(last + count) % instances.length]
        if (isOpen(instance) && (best === undefined || isSooner(instance, best))) best = instance
      }
      if (best !== undefined) last = best.index
      return best
    }
  },
  // Each client has an instance, and another one while that is away.
  hash:
    (instances) =>
    ({ salt }) => {
      for (let count = 0; count < instances.length; count++) {
        const instance = instances[(salt + count * 7) % instances.length]
        if (isOpen(instance)) return instance
      }
      return undefined
    },
}

function isSooner(a: Instance, b: Instance): boolean {
  if (a.arrived !== b.arrived) return a.arrived < b.arrived
  return a.arrived > 0 && a.running < b.running
}

/** The instance where one more call would be quickest, as an oracle knows. */
export function leastLoaded(instances: readonly Instance[]): Instance | undefined {
  let best: Instance | undefined
  for (const instance of instances) {
    if (isOpen(instance) && (best === undefined || waitAt(instance, 1) < waitAt(best, 1))) best = instance
  }
  return best
}

/** Returns the load of an instance, with so many more calls. */
export function waitAt({ running, connections, slowness }: Instance, more: number): number {
  return (Math.max(running, connections) + more) * slowness
}
