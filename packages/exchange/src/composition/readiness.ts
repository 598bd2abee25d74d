import { type Clock, errorRecord, type Log, withTimeout } from '@x/core'

/** Whether a server's parts can be reached: its extensions, its codec of `requestState`, and its bus. */
export interface Readiness {
  /** True if every required part can be reached. Never rejects. */
  ready(): Promise<boolean>
  /** Parts that could not be reached at the last check. */
  unavailableNames(): readonly string[]
}

/** Checks a part of a server that may depend on a store or a message broker. */
export interface ReadinessCheck {
  /** Name of the part in `load.unavailable`. */
  readonly name: string
  /** How the log message begins if the part is unreachable, such as `The bus cannot be reached`. */
  readonly problem: string
  /** What follows from a part that is unreachable and not required, for the log message. */
  readonly consequence: string
  /** True if the server cannot handle any call without this part. */
  readonly isRequired: () => boolean
  /**
   * False if the part cannot be reached; a rejection counts as false. Undefined, from a part that needs no check,
   * counts as true.
   */
  readonly check: () => boolean | undefined | Promise<boolean | undefined>
  readonly report: (error: unknown) => void
}

/**
 * A part that has not answered by then counts as unreachable. The HTTP transport waits five seconds for all parts, so
 * one that hangs does not make a server unready that can do without it.
 */
const checkTimeoutMs = 2000

/**
 * From the first check on, a part may take so long to open without a report: PGlite needs several seconds to create its
 * folder. Until the part answers, it counts as unreachable all the same.
 */
const openingMs = 30_000

/** Reports an unreachable part only at its first failed check, because probes come every few seconds. */
export function createReadiness(checks: readonly ReadinessCheck[], clock: Clock): Readiness {
  // Bounded by the parts of the server.
  const unavailableNames = new Set<string>()
  // Bounded by the parts of the server.
  const reportedNames = new Set<string>()
  /** Parts that have answered once, or whose time to open is over. Bounded by the parts of the server. */
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
 * Makes the function that returns true if a composition's required parts can be reached, and its author says so too. An
 * author's function that fails is reported, and says no. If it returns false, the log has the `refusal` once: absent for
 * a function that reports its reasons itself, as that of a gateway.
 */
export function createReadyFunction(
  { readiness }: { readonly readiness: Readiness },
  { ready }: { readonly ready?: (() => boolean | Promise<boolean>) | undefined },
  { log, refusal }: { readonly log: Log; readonly refusal?: string },
): () => Promise<boolean> {
  let hasSaidNo = false
  const askAuthor = async (): Promise<boolean> => {
    try {
      const isReady = (await ready?.()) ?? true
      if (!isReady && !hasSaidNo && refusal !== undefined) log({ level: 'warn', method: 'ready', message: refusal })
      hasSaidNo = !isReady
      return isReady
    } catch (error) {
      log(errorRecord(error, { method: 'ready' }))
      return false
    }
  }
  return async () => (await Promise.all([readiness.ready(), askAuthor()])).every(Boolean)
}
