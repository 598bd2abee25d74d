import type { LoadLimits } from './shedding-rules.ts'
import type { Load } from './shedding-options.ts'

/** Flags for the measured values that are over their limits. */
export interface Overload {
  readonly isRunningCountHigh: boolean
  readonly isEventLoopDelayHigh: boolean
  readonly isHeapHigh: boolean
}

/** The overload of an idle server. */
export const noOverload: Overload = { isRunningCountHigh: false, isEventLoopDelayHigh: false, isHeapHigh: false }

/** The share of a limit below which a value counts as being within it again. */
const recoveryShare = 0.8

/**
 * Compares a load with limits. A value over its limit counts as over it until it falls below {@link recoveryShare} of
 * the limit, so that the result does not flap.
 */
export function overloadOf(load: Load, limits: LoadLimits, previousOverload: Overload): Overload {
  return {
    isRunningCountHigh: isOverLimit(load.running, limits.running, previousOverload.isRunningCountHigh),
    isEventLoopDelayHigh: isOverLimit(
      load.eventLoopDelayMs,
      limits.eventLoopDelayMs,
      previousOverload.isEventLoopDelayHigh,
    ),
    isHeapHigh:
      load.heapShare !== undefined && isOverLimit(load.heapShare, limits.heapShare, previousOverload.isHeapHigh),
  }
}

/** Returns true when any value is over its limit. */
export function isOverloaded({ isRunningCountHigh, isEventLoopDelayHigh, isHeapHigh }: Overload): boolean {
  return isRunningCountHigh || isEventLoopDelayHigh || isHeapHigh
}

/** Returns the load as one number, relative to the limit that is nearest: 1 at the limit, 2 at twice the limit. */
export function computeRelativeLoad({ running, eventLoopDelayMs, heapShare = 0 }: Load, limits: LoadLimits): number {
  return Math.max(running / limits.running, eventLoopDelayMs / limits.eventLoopDelayMs, heapShare / limits.heapShare)
}

function isOverLimit(value: number, limit: number, wasOverLimit: boolean): boolean {
  return value > (wasOverLimit ? limit * recoveryShare : limit)
}
