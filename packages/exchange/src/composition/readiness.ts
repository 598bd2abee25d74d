import { type Clock, withTimeout } from '@x/core'

/**
 * Checks whether the parts of a server can be reached. The parts are its extensions, its codec of `requestState`, and
 * its bus.
 */
interface Readiness {
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
 * Creates a check of all parts. An unreachable part is reported only at its first failed check, because probes call the
 * check every few seconds.
 */
export function createReadiness(checks: readonly ReadinessCheck[], clock: Clock): Readiness {
  const unavailableNames = new Set<string>()
  const runCheck = async (one: ReadinessCheck): Promise<boolean> => {
    const { isReachable, cause } = await checkReachable(one, clock)
    const { name } = one
    if (isReachable) {
      unavailableNames.delete(name)
      return true
    }
    const isRequired = one.isRequired()
    const consequence = isRequired ? 'the server is not ready' : one.consequence
    if (!unavailableNames.has(name)) one.report(new Error(`${one.problem}: ${consequence}`, { cause }))
    unavailableNames.add(name)
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
): Promise<{ isReachable: boolean; cause?: unknown }> {
  const createTimeoutError = (): Error => new Error(`It did not answer within ${checkTimeoutMs} ms`)
  try {
    const isReachable = await withTimeout({ timeoutMs: checkTimeoutMs, clock, createTimeoutError }, async () => check())
    return { isReachable: isReachable ?? true }
  } catch (cause) {
    return { isReachable: false, cause }
  }
}
