import { encodeBase64url } from '@x/core'

/** The load of an instance when it handed a call off. The state of the call contains this report. */
export interface HandOffReport {
  /** The random name of the reporting instance. */
  readonly instanceId: string
  /** The load of the instance when it handed the call off. 1 means that a limit is reached. */
  readonly relativeLoad: number
  /** The time of the hand-off, in milliseconds since 1970. */
  readonly handedOffAt: number
}

/** Milliseconds after which the weight of a report has fallen to about a third. */
const reportDecayMs = 5000

/**
 * The decay time for the report of the instance that a call came from. It is longer than the decay time of other
 * reports, so that a call does not return within five seconds to an instance with equal load.
 */
const originReportDecayMs = 12_500

/** Milliseconds after which reports are ignored. A report may also seem old because clocks differ. */
const staleReportMs = 20_000

/** The maximum number of instances whose reports are kept. */
const maxReports = 32

/** The weight of all instances that sent no report. They count as one idle instance. */
const unknownLoadWeight = 0.5

/** The number of hand-offs after which the counts are halved, so that older hand-offs count less. */
const maxHandOffCount = 8

/**
 * The share of returned calls above which the balancer is considered sticky: it sends each client to the same instance
 * again.
 */
const stickyReturnShare = 0.8

/**
 * With a sticky balancer, one call is handed off in this number of milliseconds, to detect when the balancer changes.
 */
const stickyRetryMs = 10_000

/** The maximum number of returned calls that are remembered. */
const maxReturnedCalls = 1000

/** The two clocks of an instance, and its random name. */
export interface FleetViewSource {
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number
  /** Milliseconds since 1970, for the time in reports to other instances. */
  readonly wallClock: () => number
  /** Returns a random name for this instance. Two machines may have processes with the same id. */
  readonly randomId: () => string
}

/**
 * The load of other instances as one instance knows it. Instances are not connected. So the view consists of the
 * reports in calls that other instances handed off.
 */
export class FleetView {
  readonly #source: FleetViewSource
  #id: string | undefined
  /** The last report of each other instance: its load and the time. The latest report is last. */
  readonly #loadReports = new Map<string, { readonly relativeLoad: number; readonly reportedAt: number }>()
  /** The number of recent hand-offs, and how many of these calls the balancer sent back to this instance. */
  #handOffCount = 0
  #returnedCallCount = 0
  /** The ids of calls that returned. A call whose state is sent more than once counts once. */
  readonly #returnedCallIds = new Set<string>()
  /** The time at which this instance last handed a call off because of its load. */
  #lastHandOffAt = Number.NEGATIVE_INFINITY

  constructor(source: FleetViewSource) {
    this.#source = source
  }

  /**
   * Records the report in the state of a call that arrived. `callId` identifies this hand-off of the call, so that a
   * state that is sent again is not counted twice.
   */
  recordReport(handOffReport: HandOffReport, callId: string): void {
    const { instanceId, relativeLoad } = handOffReport
    if (this.#isOwn(handOffReport)) return this.#countReturnedCall(callId)
    const ageMs = this.#ageOf(handOffReport)
    if (ageMs > staleReportMs) return
    const reportedAt = this.#source.now() - ageMs
    const knownReport = this.#loadReports.get(instanceId)
    if (knownReport !== undefined && knownReport.reportedAt >= reportedAt) return
    this.#loadReports.delete(instanceId)
    this.#loadReports.set(instanceId, { relativeLoad, reportedAt })
    const [oldestInstanceId] = this.#loadReports.keys()
    if (this.#loadReports.size > maxReports && oldestInstanceId !== undefined)
      this.#loadReports.delete(oldestInstanceId)
  }

  /**
   * Returns true if the other instances probably have clearly less load than this instance, so that handing a call off
   * helps. `handOffReport` is that of the instance that the call came from.
   */
  isWorthHandingOff(relativeLoad: number, handOffReport: HandOffReport | undefined): boolean {
    if (!isClearlyHigher(relativeLoad, this.#averageLoad())) return false
    if (this.#isBalancerSticky() && this.#source.now() - this.#lastHandOffAt < stickyRetryMs) return false
    // The call may return to the instance that it came from, which therefore must have had clearly less load too.
    if (handOffReport === undefined || this.#isOwn(handOffReport)) return true
    return isClearlyHigher(
      relativeLoad,
      handOffReport.relativeLoad * Math.exp(-this.#ageOf(handOffReport) / originReportDecayMs),
    )
  }

  /** Counts a hand-off, and returns the report for the state of the call. */
  registerHandOff(relativeLoad: number): HandOffReport {
    const { now, wallClock } = this.#source
    this.#lastHandOffAt = now()
    this.#handOffCount++
    if (this.#handOffCount > maxHandOffCount) {
      this.#handOffCount /= 2
      this.#returnedCallCount /= 2
    }
    return { instanceId: this.#ownId(), relativeLoad, handedOffAt: wallClock() }
  }

  /** The id is created on first use, because workers cannot create random values while they load. */
  #ownId(): string {
    return (this.#id ??= this.#source.randomId())
  }

  #isOwn({ instanceId }: HandOffReport): boolean {
    return instanceId === this.#ownId()
  }

  #countReturnedCall(callId: string): void {
    if (this.#returnedCallIds.has(callId)) return
    this.#returnedCallIds.add(callId)
    this.#returnedCallCount++
    const [oldestCallId] = this.#returnedCallIds
    if (this.#returnedCallIds.size > maxReturnedCalls && oldestCallId !== undefined)
      this.#returnedCallIds.delete(oldestCallId)
  }

  #isBalancerSticky(): boolean {
    return this.#handOffCount > 3 && this.#returnedCallCount / this.#handOffCount > stickyReturnShare
  }

  /**
   * Returns the mean load of the other instances according to their reports. Instances without a recent report count as
   * one idle instance.
   */
  #averageLoad(): number {
    const now = this.#source.now()
    let sum = 0
    let weightSum = unknownLoadWeight
    for (const { relativeLoad, reportedAt } of this.#loadReports.values()) {
      const weight = now - reportedAt > staleReportMs ? 0 : Math.exp((reportedAt - now) / reportDecayMs)
      sum += relativeLoad * weight
      weightSum += weight
    }
    return sum / weightSum
  }

  /** Returns the age of a report. A report from the future, due to another clock, has the age 0. */
  #ageOf({ handedOffAt }: HandOffReport): number {
    return Math.max(0, this.#source.wallClock() - handedOffAt)
  }
}

/** Returns true if one load is higher than the other by more than the inaccuracy of the measurements. */
function isClearlyHigher(ownLoad: number, otherLoad: number): boolean {
  return ownLoad > 1.5 * otherLoad + 0.1
}

/**
 * Returns a random id of 48 bits in eight letters. That is enough for thousands of instances, and each handed-off call
 * contains one.
 */
export function randomInstanceId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(6)))
}
