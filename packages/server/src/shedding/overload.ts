import type { LoadLimits } from './shedding-rules.ts'
import type { Load } from './shedding-options.ts'

/** Which measured values are over their limits. */
export interface Overload {
  readonly isRunningCountHigh: boolean
  readonly isEventLoopDelayHigh: boolean
  readonly isHeapHigh: boolean
}

/** No value of an idle server is over its limit. */
export const noOverload: Overload = { isRunningCountHigh: false, isEventLoopDelayHigh: false, isHeapHigh: false }

/** A value below this share of its limit counts as within it again. */
const recoveryShare = 0.8

/**
 * Compares a load with limits. A value over its limit counts as over it until it falls below {@link recoveryShare} of
 * the limit; otherwise the result would flap.
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

export function isOverloaded({ isRunningCountHigh, isEventLoopDelayHigh, isHeapHigh }: Overload): boolean {
  return isRunningCountHigh || isEventLoopDelayHigh || isHeapHigh
}

/** One number for a load, relative to the nearest limit: 1 at the limit, 2 at twice the limit. */
export function computeRelativeLoad({ running, eventLoopDelayMs, heapShare = 0 }: Load, limits: LoadLimits): number {
  return Math.max(running / limits.running, eventLoopDelayMs / limits.eventLoopDelayMs, heapShare / limits.heapShare)
}

function isOverLimit(value: number, limit: number, wasOverLimit: boolean): boolean {
  return value > (wasOverLimit ? limit * recoveryShare : limit)
}
