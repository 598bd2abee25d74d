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

/**
 * The load of other instances as one instance knows it. Instances are not connected. So the view consists of the
 * reports in calls that other instances handed off.
 */
export interface FleetView {
  /** The random name of this instance. */
  readonly id: string
  /** The last report of each other instance: its load and the time. The latest report is last. */
  readonly loadReports: Map<string, { readonly relativeLoad: number; readonly reportedAt: number }>
  /** The number of recent hand-offs, and how many of these calls the balancer sent back to this instance. */
  handOffCount: number
  returnedCallCount: number
  /** The ids of calls that returned. A call whose state is sent more than once counts once. */
  readonly returnedCallIds: Set<string>
  /** The time at which this instance last handed a call off because of its load. */
  lastHandOffAt: number
}

/**
 * Creates a view without reports. The id is created on first use, because workers cannot create random values while
 * they load.
 */
export function createEmptyFleetView(randomId: () => string): FleetView {
  let id: string | undefined
  return {
    get id() {
      id ??= randomId()
      return id
    },
    loadReports: new Map(),
    handOffCount: 0,
    returnedCallCount: 0,
    returnedCallIds: new Set(),
    lastHandOffAt: Number.NEGATIVE_INFINITY,
  }
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

/** The time of the two clocks of an instance. */
export interface ClockTimes {
  /** Milliseconds from an arbitrary start. */
  readonly monotonicMs: number
  /** Milliseconds since 1970. */
  readonly epochMs: number
}

/**
 * Records the report in the state of a call that arrived. `callId` identifies this hand-off of the call, so that a
 * state that is sent again is not counted twice.
 */
export function recordLoadReport(
  fleet: FleetView,
  { handOffReport, callId }: { handOffReport: HandOffReport; callId: string },
  clockTimes: ClockTimes,
): void {
  if (handOffReport.instanceId === fleet.id) return countReturnedCall(fleet, callId)
  const ageMs = computeReportAgeMs(handOffReport, clockTimes)
  if (ageMs > staleReportMs) return
  const reportedAt = clockTimes.monotonicMs - ageMs
  const knownReport = fleet.loadReports.get(handOffReport.instanceId)
  if (knownReport !== undefined && knownReport.reportedAt >= reportedAt) return
  fleet.loadReports.delete(handOffReport.instanceId)
  fleet.loadReports.set(handOffReport.instanceId, { relativeLoad: handOffReport.relativeLoad, reportedAt })
  const [oldestInstanceId] = fleet.loadReports.keys()
  if (fleet.loadReports.size > maxReports && oldestInstanceId !== undefined) fleet.loadReports.delete(oldestInstanceId)
}

/**
 * Returns true if the other instances probably have clearly less load than this instance, so that handing a call off
 * helps.
 */
export function isWorthHandingOff(
  fleet: FleetView,
  { relativeLoad, handOffReport }: { relativeLoad: number; handOffReport: HandOffReport | undefined },
  clockTimes: ClockTimes,
): boolean {
  if (!isClearlyHigher(relativeLoad, averageFleetLoad(fleet, clockTimes.monotonicMs))) return false
  if (isBalancerSticky(fleet) && clockTimes.monotonicMs - fleet.lastHandOffAt < stickyRetryMs) return false
  // The call may return to the instance that it came from, which therefore must have had clearly less load too.
  if (handOffReport === undefined || handOffReport.instanceId === fleet.id) return true
  return isClearlyHigher(
    relativeLoad,
    handOffReport.relativeLoad * Math.exp(-computeReportAgeMs(handOffReport, clockTimes) / originReportDecayMs),
  )
}

/** Counts a hand-off for load, and returns the report for the state of the call. */
export function registerHandOff(fleet: FleetView, relativeLoad: number, clockTimes: ClockTimes): HandOffReport {
  fleet.lastHandOffAt = clockTimes.monotonicMs
  fleet.handOffCount++
  if (fleet.handOffCount > maxHandOffCount) {
    fleet.handOffCount /= 2
    fleet.returnedCallCount /= 2
  }
  return { instanceId: fleet.id, relativeLoad, handedOffAt: clockTimes.epochMs }
}

function countReturnedCall(fleet: FleetView, callId: string): void {
  if (fleet.returnedCallIds.has(callId)) return
  fleet.returnedCallIds.add(callId)
  fleet.returnedCallCount++
  const [oldestCallId] = fleet.returnedCallIds
  if (fleet.returnedCallIds.size > maxReturnedCalls && oldestCallId !== undefined)
    fleet.returnedCallIds.delete(oldestCallId)
}

const maxReturnedCalls = 1000

function isBalancerSticky({ handOffCount, returnedCallCount }: FleetView): boolean {
  return handOffCount > 3 && returnedCallCount / handOffCount > stickyReturnShare
}

/**
 * Returns the mean load of the other instances according to their reports. Instances without a recent report count as
 * one idle instance.
 */
function averageFleetLoad({ loadReports }: FleetView, now: number): number {
  let sum = 0
  let weightSum = unknownLoadWeight
  for (const { relativeLoad, reportedAt } of loadReports.values()) {
    const weight = now - reportedAt > staleReportMs ? 0 : Math.exp((reportedAt - now) / reportDecayMs)
    sum += relativeLoad * weight
    weightSum += weight
  }
  return sum / weightSum
}

/** Returns true if one load is higher than the other by more than the inaccuracy of the measurements. */
function isClearlyHigher(ownLoad: number, otherLoad: number): boolean {
  return ownLoad > 1.5 * otherLoad + 0.1
}

/** Returns the age of a report. A report from the future, due to another clock, has the age 0. */
function computeReportAgeMs({ handedOffAt }: HandOffReport, { epochMs }: ClockTimes): number {
  return Math.max(0, epochMs - handedOffAt)
}

/**
 * Returns a random id of 48 bits in eight letters. That is enough for thousands of instances, and each handed-off call
 * contains one.
 */
export function randomInstanceId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(6)))
}
