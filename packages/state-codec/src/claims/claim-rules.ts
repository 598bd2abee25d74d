import type { ClaimOptions, SealClaims, StateClock } from '../state-codec.ts'
import { StateUsageError } from '../state-error.ts'

/** Claim options with every default filled in. */
export interface ClaimRules {
  readonly audience: string | undefined
  readonly ttlMs: number
  readonly maxAgeMs: number
  readonly maxBytes: number
  readonly clock: StateClock
}

/** The accepted difference between the clocks of two instances, in milliseconds. */
export const clockSkewMs = 30_000

const hour = 3_600_000
const platformClock: StateClock = { now: () => Date.now() }

/**
 * Fills in defaults.
 *
 * @throws StateUsageError for an invalid duration or limit.
 */
export function claimRules(options: ClaimOptions, defaultMaxBytes: number): ClaimRules {
  const maxAgeMs = checkPositive('maxAgeMs', options.maxAgeMs ?? 24 * hour)
  const ttlMs = checkPositive('ttlMs', options.ttlMs ?? Math.min(hour, maxAgeMs))
  if (ttlMs > maxAgeMs) {
    throw new StateUsageError('configuration', `ttlMs is ${ttlMs}, which exceeds maxAgeMs, ${maxAgeMs}`)
  }
  return {
    audience: checkAudience(options.audience),
    ttlMs,
    maxAgeMs,
    maxBytes: checkPositive('maxBytes', options.maxBytes ?? defaultMaxBytes),
    clock: options.clock ?? platformClock,
  }
}

/** Returns the longest time in milliseconds during which a token made under these rules can open. */
export function maxLifetimeMs({ maxAgeMs }: ClaimRules): number {
  return maxAgeMs + clockSkewMs
}

/**
 * Returns the time at which a token is made, its expiry, and the start of its flow.
 *
 * @throws StateUsageError for an invalid time or duration.
 */
export function tokenTimes(claims: SealClaims, rules: ClaimRules): { at: number; until: number; since: number } {
  const at = Math.trunc(rules.clock.now())
  if (!Number.isFinite(at)) throw new StateUsageError('configuration', 'clock.now() did not return a number')
  const since = claims.since === undefined ? at : Math.trunc(claims.since)
  if (!Number.isFinite(since)) {
    throw new StateUsageError('configuration', `since is ${claims.since}: give milliseconds since the epoch`)
  }
  const ttlMs = claims.ttlMs === undefined ? rules.ttlMs : checkPositive('ttlMs', claims.ttlMs)
  return { at, until: Math.min(at + ttlMs, since + rules.maxAgeMs), since }
}

const loneSurrogate = /\p{Surrogate}/u

/** @throws StateUsageError for a purpose from which no keys can be derived. */
export function checkPurpose(purpose: string): void {
  if (typeof purpose === 'string' && purpose.length > 0 && purpose.length <= 256 && !loneSurrogate.test(purpose)) return
  throw new StateUsageError(
    'configuration',
    'purpose must be a string of 1 to 256 characters: say what the state is for',
  )
}

/** @throws StateUsageError for an empty or overlong audience. */
export function checkAudience(audience: string | undefined): string | undefined {
  if (audience === undefined || (typeof audience === 'string' && audience.length > 0 && audience.length <= 1024)) {
    return audience
  }
  throw new StateUsageError('configuration', 'audience must be a string of 1 to 1024 characters, or left out')
}

function checkPositive(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return Math.ceil(value)
  throw new StateUsageError('configuration', `${name} is ${value}: give a number above 0`)
}
