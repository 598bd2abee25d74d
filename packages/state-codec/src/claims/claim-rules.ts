import type { ClaimOptions, SealClaims, StateClock } from '../state-codec.ts'
import { StateUsageError } from '../state-error.ts'

/** Claims as a codec checks them: every option has its value. */
export interface ClaimRules {
  readonly audience: string | undefined
  readonly ttlMs: number
  readonly maxAgeMs: number
  readonly maxBytes: number
  readonly clock: StateClock
}

/** How far the clocks of two instances may be apart, in milliseconds. */
export const clockSkewMs = 30_000

const hour = 3_600_000
const platformClock: StateClock = { now: () => Date.now() }

/**
 * Fills in the options that were not given.
 *
 * @throws StateUsageError for a duration or a bound that is none.
 */
export function claimRules(options: ClaimOptions, defaultMaxBytes: number): ClaimRules {
  const maxAgeMs = positive('maxAgeMs', options.maxAgeMs ?? 24 * hour)
  const ttlMs = positive('ttlMs', options.ttlMs ?? Math.min(hour, maxAgeMs))
  if (ttlMs > maxAgeMs) {
    throw new StateUsageError('configuration', `ttlMs is ${ttlMs}, which is more than maxAgeMs, ${maxAgeMs}`)
  }
  return {
    audience: audienceOf(options.audience),
    ttlMs,
    maxAgeMs,
    maxBytes: positive('maxBytes', options.maxBytes ?? defaultMaxBytes),
    clock: options.clock ?? platformClock,
  }
}

/** How long a token that was made under these rules may open, in milliseconds. */
export function lifetimeOf({ maxAgeMs }: ClaimRules): number {
  return maxAgeMs + clockSkewMs
}

/**
 * When a token begins and ends.
 *
 * @throws StateUsageError for a time or a duration that is none.
 */
export function timesOf(claims: SealClaims, rules: ClaimRules): { at: number; until: number; since: number } {
  const at = Math.trunc(rules.clock.now())
  if (!Number.isFinite(at)) throw new StateUsageError('configuration', 'clock.now() gave no number')
  const since = claims.since === undefined ? at : Math.trunc(claims.since)
  if (!Number.isFinite(since)) {
    throw new StateUsageError('configuration', `since is ${claims.since}: give milliseconds since the epoch`)
  }
  const ttlMs = claims.ttlMs === undefined ? rules.ttlMs : positive('ttlMs', claims.ttlMs)
  return { at, until: Math.min(at + ttlMs, since + rules.maxAgeMs), since }
}

const loneSurrogate = /\p{Surrogate}/u

/** @throws StateUsageError for a purpose that keys cannot be derived from. */
export function checkPurpose(purpose: string): void {
  if (typeof purpose === 'string' && purpose.length > 0 && purpose.length <= 256 && !loneSurrogate.test(purpose)) return
  throw new StateUsageError(
    'configuration',
    'purpose must be a string of 1 to 256 characters: say what the state is for',
  )
}

/** @throws StateUsageError for an audience that names nothing. */
export function audienceOf(audience: string | undefined): string | undefined {
  if (audience === undefined || (typeof audience === 'string' && audience.length > 0 && audience.length <= 1024)) {
    return audience
  }
  throw new StateUsageError('configuration', 'audience must be a string of 1 to 1024 characters, or left out')
}

function positive(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return Math.ceil(value)
  throw new StateUsageError('configuration', `${name} is ${value}: give a number above 0`)
}
