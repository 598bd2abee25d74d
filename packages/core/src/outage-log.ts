import { errorRecord, type Log, type LogRecord } from './log.ts'
import { quoteText } from './quote-text.ts'
import type { Clock } from './runtime.ts'
import { isUnavailable, unavailableErrorIn } from './unavailable.ts'

/** Log of one service that may be away, such as a store. */
export interface OutageLog {
  /** Logs a failure. Of an outage, the first is logged as it is, and the others have the level `debug`. */
  fail(record: LogRecord): void
  /** Notes a failed check, which only the line about an outage that lasts mentions. */
  failCheck(record: LogRecord): void
  /** Notes an answer. The outage is over once there has been no failure for a while. */
  succeed(): void
  /** Notes that the outage is over. */
  end(): void
}

/** Code of the line about an outage that lasts. */
export const unavailableCode = 'unavailable'
/** Code of the line about its end. */
export const availableCode = 'available'

/** After this time, a line says that the outage lasts. */
const lastingMs = 10_000
/** An answer between two failures does not end an outage: with a full disk, a store can still be read. */
const settledMs = 15_000
/** A failure after such a pause begins another outage. Services are asked again at least every 30 seconds. */
const forgottenMs = 60_000

/**
 * Makes three lines of an outage, whether it lasts a minute or a day: the first failure with its cause, a `warn` with the
 * code `unavailable` once it lasts, and an `info` with the code `available` when the service answers again.
 *
 * @param service - Begins the sentences, as in "The task store".
 */
export function createOutageLog(log: Log, service: string, clock: Pick<Clock, 'monotonicNow'>): OutageLog {
  /** `answeredAt` is the time of the first answer since the last failure. */
  let outage: { readonly startedAt: number; failedAt: number; answeredAt?: number; isLasting: boolean } | undefined
  const endAt = (time: number): void => {
    if (outage === undefined) return
    const message = `${service} answers again, after ${secondsBetween(outage.startedAt, time)} s`
    outage = undefined
    log({ level: 'info', code: availableCode, message })
  }
  const extend = (record: LogRecord): void => {
    const now = clock.monotonicNow()
    if (outage === undefined || now - outage.failedAt > forgottenMs) return
    outage.failedAt = now
    delete outage.answeredAt
    if (outage.isLasting || now - outage.startedAt < lastingMs) return
    outage.isLasting = true
    const problem = `${service} has failed for ${secondsBetween(outage.startedAt, now)} s`
    log({
      level: 'warn',
      code: unavailableCode,
      message: `${problem}. Until it answers, its failures have the level debug. The last one: ${record.message}`,
    })
  }
  return {
    failCheck: extend,
    fail(record) {
      const now = clock.monotonicNow()
      if (outage === undefined || now - outage.failedAt > forgottenMs) {
        outage = { startedAt: now, failedAt: now, isLasting: false }
        return log(record)
      }
      log({ ...record, level: 'debug' })
      extend(record)
    },
    succeed() {
      if (outage === undefined) return
      const now = clock.monotonicNow()
      outage.answeredAt ??= now
      if (now - outage.failedAt >= settledMs) endAt(outage.answeredAt)
    },
    end: () => endAt(clock.monotonicNow()),
  }
}

function secondsBetween(start: number, end: number): number {
  return Math.round((end - start) / 1000)
}

/** Names of services by the class of the error that says that one is unavailable. */
const serviceNames: ReadonlyMap<string, string> = new Map([
  ['BusError', 'The change bus'],
  ['EngineError', 'The task store'],
  ['StateError', 'The store of the state'],
  ['TokenError', 'The issuer of access tokens'],
])

/** Log in which each unavailable service is an outage. */
export interface ServiceLog {
  readonly log: Log
  /** Notes a failed check of the service whose errors have this class. Its caller reports the first of a row. */
  failCheck(errorName: string, error: unknown): void
  /** Notes an answer of the service. */
  succeed(errorName: string): void
  /** Log for a bus, which notices by itself that an outage lasts, and that it is over. */
  readonly logOfBus: Log
}

/** Makes a log in which the errors of unavailable services are outages, one for each service and each issuer of tokens. */
export function limitOutages(log: Log, clock: Pick<Clock, 'monotonicNow'>): ServiceLog {
  // Bounded by the classes of errors in `errorNames`.
  const outages = new Map<string, OutageLog>()
  const services: ServiceLog = {
    log(record) {
      const error = record.level === 'error' ? unavailableErrorIn(record.err) : undefined
      if (error === undefined) return log(record)
      const { name } = error
      const issuer = 'issuer' in error && typeof error.issuer === 'string' ? ` ${quoteText(error.issuer)}` : ''
      const key = `${name}${issuer}`
      const outage = outages.get(key) ?? createOutageLog(log, `${serviceNames.get(name) ?? name}${issuer}`, clock)
      outages.set(key, outage)
      outage.fail(record)
    },
    failCheck: (errorName, error) => outages.get(errorName)?.failCheck(errorRecord(error)),
    succeed: (errorName) => outages.get(errorName)?.succeed(),
    logOfBus(record) {
      // The server sees other failures of the same outage, so only one of the two may write its lines.
      if (record.code === availableCode) outages.get('BusError')?.end()
      else if (record.code !== unavailableCode)
        services.log(unavailableErrorIn(record.err) === undefined ? record : { ...record, level: 'error' })
    },
  }
  return services
}

/** Reports failures of background work, for which nobody waits. */
export interface FailureReporter {
  /** Errors of an unavailable service are an outage. */
  report(error: unknown): void
  /** Notes that the service answers again. */
  end(): void
}

/** All records have the given name. */
export function createFailureReporter(
  log: Log,
  service: string,
  { name, clock }: { readonly name: string; readonly clock: Pick<Clock, 'monotonicNow'> },
): FailureReporter {
  const outage = createOutageLog(log, service, clock)
  return {
    report(error) {
      const record = errorRecord(error, { name })
      if (isUnavailable(error)) outage.fail(record)
      else log(record)
    },
    end: () => outage.end(),
  }
}
