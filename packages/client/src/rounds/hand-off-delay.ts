import { computeBackoffMs } from '@x/core'
import { type JsonObject, projectMetaKeys } from '@x/schema'
import type { PauseBounds } from '../request/round-options.ts'

/** Number of hand-offs in a row that are followed at the shortest pause. */
const flatDelayCount = 4

/** A server may ask for a longer pause than this, and does not get it. */
const maxRequestedMs = 5000

/** Inputs to the pause before a retry that follows a hand-off. */
export interface HandOffDelayOptions {
  /** Number of hand-offs in a row before this one. */
  readonly previousCount: number
  /** The `_meta` of the result, in which the server may say how long to wait. */
  readonly meta: JsonObject | undefined
  readonly bounds: PauseBounds
}

/**
 * Returns how long to wait before a call is sent again that was handed off, in milliseconds: 25 to 50, and from the
 * fifth in a row on twice as long each time, up to 400. Instances pace their hand-offs, so a call finds a place at once
 * as a rule. A random part keeps the calls of an instance that stops from all coming back at one moment.
 */
export function computeHandOffDelayMs(
  { previousCount, meta, bounds }: HandOffDelayOptions,
  random: () => number = Math.random,
): number {
  const requestedMs = meta?.[projectMetaKeys.retryAfterMs]
  if (typeof requestedMs === 'number' && requestedMs >= 0)
    return Math.min(requestedMs, maxRequestedMs) * (1 + random() / 2)
  const { initial = 50, max: most = 400 } = bounds
  return computeBackoffMs(Math.max(0, previousCount - flatDelayCount + 1), { firstMs: initial, maxMs: most }, random)
}
