/** The codes that error classes of these packages have for a store, bus, issuer or engine that cannot be reached. */
const unavailableCodes: ReadonlySet<unknown> = new Set(['unavailable', 'issuer_unavailable'])

/** Those classes, by name, since a program may hold two copies of a package. An author's own error is none of them. */
const errorNames: ReadonlySet<string> = new Set(['BusError', 'EngineError', 'StateError', 'TokenError'])

/** Causes that are looked at: a wrapped error has few, and a peer's object may have a cycle of them. */
const maxCauses = 8

/**
 * Returns true when an error says that a store, bus, issuer or engine cannot be reached. It is an error of these
 * packages whose `code` says so, or an error with such a cause.
 */
export function isUnavailable(error: unknown): boolean {
  let candidate = error
  for (let depth = 0; depth < maxCauses && candidate instanceof Error; depth++) {
    if (errorNames.has(candidate.name) && 'code' in candidate && unavailableCodes.has(candidate.code)) return true
    candidate = candidate.cause
  }
  return false
}
