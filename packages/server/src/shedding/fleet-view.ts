/** The load of the instance that handed a call off, as the call's state reports it. */
export interface HandOffReport {
  /** The random name of the instance. */
  readonly instanceId: string
  /** Its load when it handed the call off. 1 is its nearest limit. */
  readonly relativeLoad: number
  /** Time of that, in milliseconds since 1970. */
  readonly handedOffAt: number
}

/** An instance's view of the others, from the calls that they handed off: no instance has a connection to another. */
export interface FleetView {
  /** The random name of this instance. */
  readonly id: string
  /** The load that each other instance has reported, and when. The latest is last. */
  readonly loadReports: Map<string, { readonly relativeLoad: number; readonly reportedAt: number }>
  /** Recent hand-offs, and those of them that the balancer brought back here. */
  handOffCount: number
  returnedCallCount: number
  /** Those that returned, by call: a state that is sent more than once counts once. */
  readonly returnedCallIds: Set<string>
  /** Time at which a call was last handed off for load. */
  lastHandOffAt: number
}

/**
 * A fleet without reports. The id is made with its first use: workers have no randomness while they load.
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

/** Milliseconds after which a report counts a third. */
const reportDecayMs = 5000

/**
 * The load of the instance that a call came from is remembered longer: between equals, no call goes back within five
 * seconds.
 */
const originReportDecayMs = 12_500

/** Reports that are older, or seem so because clocks differ, are ignored. */
const staleReportMs = 20_000

/** The number of instances remembered. */
const maxReports = 32

/** Those that are silent count as one idle instance of this weight. */
const unknownLoadWeight = 0.5

/** The number of hand-offs remembered before the older ones count half. */
const maxHandOffCount = 8

/**
 * At this share of hand-offs that return to their instance, the balancer is taken for one that sends each client to its
 * own instance.
 */
const stickyReturnShare = 0.8

/** With such a balancer one call in so many milliseconds is handed off, to find out when that changes. */
const stickyRetryMs = 10_000

/** Time as an instance knows it. */
export interface ClockTimes {
  /** Milliseconds, from any beginning. */
  readonly monotonicMs: number
  /** Milliseconds since 1970. */
  readonly epochMs: number
}

/**
 * Records the report with which a call arrives. `callId` names this hand-off of this call: a state that is sent again
 * reports nothing new.
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
 * Decides whether handing this call off is likely to help: whether others are clearly better off than this instance.
 */
export function isWorthHandingOff(
  fleet: FleetView,
  { relativeLoad, handOffReport }: { relativeLoad: number; handOffReport: HandOffReport | undefined },
  clockTimes: ClockTimes,
): boolean {
  if (!isClearlyHigher(relativeLoad, averageFleetLoad(fleet, clockTimes.monotonicMs))) return false
  if (isBalancerSticky(fleet) && clockTimes.monotonicMs - fleet.lastHandOffAt < stickyRetryMs) return false
  // Not back to where it came from, unless that was better off.
  if (handOffReport === undefined || handOffReport.instanceId === fleet.id) return true
  return isClearlyHigher(
    relativeLoad,
    handOffReport.relativeLoad * Math.exp(-computeReportAgeMs(handOffReport, clockTimes) / originReportDecayMs),
  )
}

/** Notes that a call is handed off for load, and returns the report that travels with it. */
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

/** The mean load of the others. An instance that has sent no report for a while counts as idle. */
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

/** By how much a load has to be worse: less would be no more than what measurements differ by. */
function isClearlyHigher(ownLoad: number, otherLoad: number): boolean {
  return ownLoad > 1.5 * otherLoad + 0.1
}

/** The clocks of two machines differ: what comes from the future is new. */
function computeReportAgeMs({ handedOffAt }: HandOffReport, { epochMs }: ClockTimes): number {
  return Math.max(0, epochMs - handedOffAt)
}

/** 48 random bits, in eight letters: a fleet has thousands of instances at most, and each tag travels with a call. */
export function randomInstanceId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
