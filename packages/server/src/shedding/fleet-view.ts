import { BoundedMap, encodeBase64url } from '@x/core'

/** The load of an instance when it handed a call off. The report travels in the call's state. */
export interface HandOffReport {
  /** A random name. */
  readonly instanceId: string
  /** Load at the hand-off, where 1 means that a limit is reached. */
  readonly relativeLoad: number
  /** Milliseconds since 1970. */
  readonly handedOffAt: number
}

/** Milliseconds after which a report weighs about a third. */
const reportDecayMs = 5000

/**
 * For the report of the instance that a call came from. It decays more slowly than others, so that a call does not
 * return within five seconds to an instance with equal load.
 */
const originReportDecayMs = 12_500

/** Milliseconds after which reports are ignored. A report may also seem old because clocks differ. */
const staleReportMs = 20_000

const maxReports = 32

/** All instances that sent no report count together as one idle instance, with this weight. */
const unknownLoadWeight = 0.5

/** After this many hand-offs the counts are halved, so that older ones count less. */
const maxHandOffCount = 8

/**
 * If more calls than this share return, the balancer is considered sticky: it sends each client to the same instance
 * again.
 */
const stickyReturnShare = 0.8

/** Behind a sticky balancer, one call is handed off in this many milliseconds, to notice when the balancer changes. */
const stickyRetryMs = 10_000

const maxReturnedCalls = 1000

/** An instance's two clocks, and its random name. */
export interface FleetViewSource {
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number
  /** Milliseconds since 1970, for reports to other instances. */
  readonly wallClock: () => number
  /** Names this instance. A process id would not do: two machines may have processes with the same one. */
  readonly randomId: () => string
}

/**
 * The load of the other instances, as far as one instance knows it. Instances are not connected, so all it has are the
 * reports in calls that others handed off.
 */
export class FleetView {
  readonly #source: FleetViewSource
  #id: string | undefined
  readonly #loadReports = new BoundedMap<string, { readonly relativeLoad: number; readonly reportedAt: number }>(
    maxReports,
  )
  #handOffCount = 0
  #returnedCallCount = 0
  readonly #returnedCallIds = new BoundedMap<string, true>(maxReturnedCalls)
  #lastHandOffAt = Number.NEGATIVE_INFINITY

  constructor(source: FleetViewSource) {
    this.#source = source
  }

  /**
   * Records the report in an arriving call's state. `callId` identifies this hand-off of the call, so that a state that
   * is sent again is not counted twice.
   */
  recordReport(handOffReport: HandOffReport, callId: string): void {
    const { instanceId, relativeLoad } = handOffReport
    if (this.#isOwn(handOffReport)) return this.#countReturnedCall(callId)
    const ageMs = this.#ageOf(handOffReport)
    if (ageMs > staleReportMs) return
    const reportedAt = this.#source.now() - ageMs
    const knownReport = this.#loadReports.get(instanceId)
    if (knownReport !== undefined && knownReport.reportedAt >= reportedAt) return
    this.#loadReports.set(instanceId, { relativeLoad, reportedAt })
  }

  /**
   * True if the other instances probably have clearly less load than this one, so that handing a call off helps.
   * `handOffReport` is that of the instance that the call came from.
   */
  isWorthHandingOff(relativeLoad: number, handOffReport: HandOffReport | undefined): boolean {
    if (!isClearlyHigher(relativeLoad, this.#averageLoad())) return false
    if (this.#isBalancerSticky() && this.#source.now() - this.#lastHandOffAt < stickyRetryMs) return false
    // A call may return to where it came from, so that instance must have had clearly less load too.
    if (handOffReport === undefined || this.#isOwn(handOffReport)) return true
    return isClearlyHigher(
      relativeLoad,
      handOffReport.relativeLoad * Math.exp(-this.#ageOf(handOffReport) / originReportDecayMs),
    )
  }

  /** Counts a hand-off, and returns the report for the call's state. */
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

  /** Created on first use, because workers cannot create random values while they load. */
  #ownId(): string {
    return (this.#id ??= this.#source.randomId())
  }

  #isOwn({ instanceId }: HandOffReport): boolean {
    return instanceId === this.#ownId()
  }

  #countReturnedCall(callId: string): void {
    if (this.#returnedCallIds.has(callId)) return
    this.#returnedCallIds.set(callId, true)
    this.#returnedCallCount++
  }

  #isBalancerSticky(): boolean {
    return this.#handOffCount > 3 && this.#returnedCallCount / this.#handOffCount > stickyReturnShare
  }

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

  /** A report from the future, due to another clock, has the age 0. */
  #ageOf({ handedOffAt }: HandOffReport): number {
    return Math.max(0, this.#source.wallClock() - handedOffAt)
  }
}

function isClearlyHigher(ownLoad: number, otherLoad: number): boolean {
  return ownLoad > 1.5 * otherLoad + 0.1
}

/**
 * 48 random bits in eight letters: enough for thousands of instances, and short because each handed-off call contains
 * one.
 */
export function randomInstanceId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(6)))
}
