import { type Clock, withTimeout } from '@x/core'

/**
 * Checks whether the parts of a server can be reached. The parts are its extensions, its codec of `requestState`, and
 * its bus.
 */
export interface Readiness {
  /** Resolves with true if every required part can be reached, and with false otherwise. Never rejects. */
  ready(): Promise<boolean>
  /** The names of the parts that could not be reached at the last check. */
  unavailableNames(): readonly string[]
}

/** The readiness check of a part of a server that may depend on a store or a message broker. */
export interface ReadinessCheck {
  /** The name of the part in `load.unavailable`. */
  readonly name: string
  /** The beginning of the log message about an unreachable part, such as `The bus cannot be reached`. */
  readonly problem: string
  /** The consequence of an unreachable part that is not required, for the log message. */
  readonly consequence: string
  /** Returns true if the server cannot handle any call without this part. */
  readonly isRequired: () => boolean
  /**
   * Returns false if the part cannot be reached. A rejection counts as false. Undefined, from a part that needs no
   * check, counts as true.
   */
  readonly check: () => boolean | undefined | Promise<boolean | undefined>
  readonly report: (error: unknown) => void
}

/**
 * Milliseconds after which a part that has not answered counts as unreachable. The HTTP transport waits five seconds for
 * all parts, so a part that hangs does not make a server unready that can do without it.
 */
const checkTimeoutMs = 2000

/**
 * Milliseconds after the first check during which a part may open without a report. PGlite needs several seconds to
 * create its folder. Until the part answers, it counts as unreachable all the same.
 */
const openingMs = 30_000

/**
 * Creates a check of all parts. An unreachable part is reported only at its first failed check, because probes call the
 * check every few seconds.
 */
export function createReadiness(checks: readonly ReadinessCheck[], clock: Clock): Readiness {
  const unavailableNames = new Set<string>()
  const reportedNames = new Set<string>()
  /** The parts that have answered once, or for which the time to open is over. */
  const openNames = new Set<string>()
  let firstCheckAt: number | undefined
  const runCheck = async (one: ReadinessCheck): Promise<boolean> => {
    const { name } = one
    firstCheckAt ??= clock.monotonicNow()
    const { isReachable, cause, isTimeout } = await checkReachable(one, clock)
    if (!isTimeout || clock.monotonicNow() - firstCheckAt >= openingMs) openNames.add(name)
    if (isReachable) {
      unavailableNames.delete(name)
      reportedNames.delete(name)
      return true
    }
    unavailableNames.add(name)
    const isRequired = one.isRequired()
    if (openNames.has(name) && !reportedNames.has(name)) {
      reportedNames.add(name)
      const consequence = isRequired ? 'the server is not ready' : one.consequence
      one.report(new Error(`${one.problem}: ${consequence}`, { cause }))
    }
    return !isRequired
  }
  return {
    ready: async () => (await Promise.all(checks.map(runCheck))).every(Boolean),
    unavailableNames: () => checks.map(({ name }) => name).filter((name) => unavailableNames.has(name)),
  }
}

async function checkReachable(
  { check }: ReadinessCheck,
  clock: Clock,
): Promise<{ isReachable: boolean; isTimeout: boolean; cause?: unknown }> {
  const timeoutError = new Error(`It did not answer within ${checkTimeoutMs} ms`)
  const limit = { timeoutMs: checkTimeoutMs, clock, createTimeoutError: () => timeoutError }
  try {
    const isReachable = await withTimeout(limit, async () => check())
    return { isReachable: isReachable ?? true, isTimeout: false }
  } catch (cause) {
    return { isReachable: false, isTimeout: cause === timeoutError, cause }
  }
}

/**
 * Resolves with true if the required parts of a composition can be reached, and its author says so too. A function of an
 * author that fails is reported, and says no.
 */
export async function isReady(
  { readiness }: { readonly readiness: Readiness },
  { ready }: { readonly ready?: (() => boolean | Promise<boolean>) | undefined },
  report: (error: unknown) => void,
): Promise<boolean> {
  const asked = Promise.resolve().then(() => ready?.() ?? true)
  const said = asked.catch((error: unknown) => {
    report(error)
    return false
  })
  return (await Promise.all([readiness.ready(), said])).every(Boolean)
}
