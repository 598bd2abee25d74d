import { codeOf } from './thrown.ts'

/** Classes of these packages say with them that a store, bus, issuer or engine cannot be reached. */
const unavailableCodes: ReadonlySet<unknown> = new Set(['unavailable', 'issuer_unavailable'])

/**
 * Names and not classes are compared, because a program may contain two copies of a package. Errors of an author's own
 * classes do not count.
 */
const errorNames: ReadonlySet<string> = new Set(['BusError', 'EngineError', 'StateError', 'TokenError'])

/** A wrapped error has few causes, and those of a foreign error may form a cycle. */
const maxCauses = 8

/**
 * True if an error means that a store, bus, issuer or engine cannot be reached: it, or one of its causes, has a name in
 * `errorNames` and a code in `unavailableCodes`.
 */
export function isUnavailable(error: unknown): boolean {
  return unavailableErrorIn(error) !== undefined
}

/** The error, or the one of its causes, that says so. */
export function unavailableErrorIn(error: unknown): Error | undefined {
  let candidate = error
  for (let depth = 0; depth < maxCauses && candidate instanceof Error; depth++) {
    if (errorNames.has(candidate.name) && unavailableCodes.has(codeOf(candidate))) return candidate
    candidate = candidate.cause
  }
  return undefined
}
