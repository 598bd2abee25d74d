import type { SoftLimits } from './rules.ts'
import type { Load } from './shedding-options.ts'

/** Which of the measured things are over their limits. */
export interface Strain {
  readonly running: boolean
  readonly eventLoopDelay: boolean
  readonly heap: boolean
}

/** The strain of a server at rest. */
export const noStrain: Strain = { running: false, eventLoopDelay: false, heap: false }

/** How far a measure has to fall before it counts as being within its limit again. */
const recovered = 0.8

/** The strain after a measurement. What was over its limit stays over it until it is well below, so that it does not flap. */
export function strainOf(load: Load, limits: SoftLimits, before: Strain): Strain {
  return {
    running: isOver(load.running, limits.running, before.running),
    eventLoopDelay: isOver(load.eventLoopDelayMs, limits.eventLoopDelayMs, before.eventLoopDelay),
    heap: load.heapShare !== undefined && isOver(load.heapShare, limits.heapShare, before.heap),
  }
}

/** Whether anything is over its limit. */
export function isStrained({ running, eventLoopDelay, heap }: Strain): boolean {
  return running || eventLoopDelay || heap
}

function isOver(value: number, limit: number, before: boolean): boolean {
  return value > (before ? limit * recovered : limit)
}
