/**
 * The error codes with which classes of these packages report that a store, bus, issuer or engine cannot be reached.
 */
const unavailableCodes: ReadonlySet<unknown> = new Set(['unavailable', 'issuer_unavailable'])

/**
 * The names of the error classes with these codes. The name is compared instead of the class, because a program may
 * contain two copies of a package. Errors of an author's own classes do not count.
 */
const errorNames: ReadonlySet<string> = new Set(['BusError', 'EngineError', 'StateError', 'TokenError'])

/**
 * The maximum number of causes to examine. A wrapped error has few, and the causes of a foreign error may form a cycle.
 */
const maxCauses = 8

/**
 * Returns true if an error means that a store, bus, issuer or engine cannot be reached. The error, or one of its
 * causes, then has a name in `errorNames` and a code in `unavailableCodes`.
 */
export function isUnavailable(error: unknown): boolean {
  let candidate = error
  for (let depth = 0; depth < maxCauses && candidate instanceof Error; depth++) {
    if (errorNames.has(candidate.name) && 'code' in candidate && unavailableCodes.has(candidate.code)) return true
    candidate = candidate.cause
  }
  return false
}
