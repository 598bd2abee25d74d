/** The load of the instance that handed a call off, as the call's state reports it. */
export interface HandOffReport {
  /** The random name of the instance. */
  readonly instanceId: string
  /** Its load when it handed the call off; 1 is its nearest limit. */
  readonly load: number
  /** Time of that, in milliseconds since 1970. */
  readonly handedOffAt: number
}

/** An instance's view of the others, from the calls that they handed off: no instance has a connection to another. */
export interface FleetView {
  /** The random name of this instance. */
  readonly id: string
  /** The load of each other instance that was heard of, and when; the latest is last. */
  readonly reports: Map<string, { readonly load: number; readonly receivedAt: number }>
  /** Recent hand-offs, and those of them that the balancer brought back here. */
  handOffCount: number
  returnedCallCount: number
  /** Those that came back, by call: a state that is sent more than once counts once. */
  readonly returnedCalls: Set<string>
  /** Time at which a call was last handed off for load. */
  lastHandOffAt: number
}

/**
 * A fleet of which nothing was heard. The id is made with its first use: workers have no randomness while they load.
 */
export function createEmptyFleetView(randomId: () => string): FleetView {
  let id: string | undefined
  return {
    get id() {
      id ??= randomId()
      return id
    },
    reports: new Map(),
    handOffCount: 0,
    returnedCallCount: 0,
    returnedCalls: new Set(),
    lastHandOffAt: Number.NEGATIVE_INFINITY,
  }
}

/** Milliseconds after which a report counts a third. */
const reportDecayMs = 5000

/**
 * The load of the instance that a call came from is remembered longer: between equals, no call goes back within five
 * seconds.
 */
const originDecayMs = 12_500

/** Reports that are older, or seem so because clocks differ, are ignored. */
const staleReportMs = 20_000

/** The number of instances remembered. */
const maxReports = 32

/** Those that are silent count as one idle instance of this weight. */
const unknownLoadWeight = 0.5

/** The number of hand-offs remembered before the older ones count half. */
const maxHandOffCount = 8

/**
 * At this share of hand-offs that come back, the balancer is taken for one that sends each client to its own instance.
 */
const stickyShare = 0.8

/** With such a balancer one call in so many milliseconds is handed off, to find out when that changes. */
const stickyRetryMs = 10_000

/** Time as an instance knows it. */
export interface ClockTimes {
  /** Milliseconds, from any beginning. */
  readonly now: number
  /** Milliseconds since 1970. */
  readonly wallTime: number
}

/**
 * Learns from a call that arrives with a report. `callId` names this hand-off of this call: a client that sends the state
 * again tells nothing new.
 */
export function recordLoadReport(
  fleet: FleetView,
  { tag: handOffReport, callId }: { tag: HandOffReport; callId: string },
  clockTimes: ClockTimes,
): void {
  if (handOffReport.instanceId === fleet.id) return countReturnedCall(fleet, callId)
  const ageMs = reportAge(handOffReport, clockTimes)
  if (ageMs > staleReportMs) return
  const reportedAt = clockTimes.now - ageMs
  const knownReport = fleet.reports.get(handOffReport.instanceId)
  if (knownReport !== undefined && knownReport.receivedAt >= reportedAt) return
  fleet.reports.delete(handOffReport.instanceId)
  fleet.reports.set(handOffReport.instanceId, { load: handOffReport.load, receivedAt: reportedAt })
  const [oldest] = fleet.reports.keys()
  if (fleet.reports.size > maxReports && oldest !== undefined) fleet.reports.delete(oldest)
}

/**
 * Decides whether handing this call off is likely to help: whether others are clearly better off than this instance.
 */
export function isWorthHandingOff(
  fleet: FleetView,
  { load, tag: handOffReport }: { load: number; tag: HandOffReport | undefined },
  clockTimes: ClockTimes,
): boolean {
  if (!isClearlyHigher(load, averageFleetLoad(fleet, clockTimes.now))) return false
  if (isSticky(fleet) && clockTimes.now - fleet.lastHandOffAt < stickyRetryMs) return false
  // Not back to where it came from, unless that was better off.
  if (handOffReport === undefined || handOffReport.instanceId === fleet.id) return true
  return isClearlyHigher(load, handOffReport.load * Math.exp(-reportAge(handOffReport, clockTimes) / originDecayMs))
}

/** Notes that a call is handed off for load, and returns the report that travels with it. */
export function registerHandOff(fleet: FleetView, load: number, clockTimes: ClockTimes): HandOffReport {
  fleet.lastHandOffAt = clockTimes.now
  fleet.handOffCount++
  if (fleet.handOffCount > maxHandOffCount) {
    fleet.handOffCount /= 2
    fleet.returnedCallCount /= 2
  }
  return { instanceId: fleet.id, load, handedOffAt: clockTimes.wallTime }
}

function countReturnedCall(fleet: FleetView, callId: string): void {
  if (fleet.returnedCalls.has(callId)) return
  fleet.returnedCalls.add(callId)
  fleet.returnedCallCount++
  const [oldest] = fleet.returnedCalls
  if (fleet.returnedCalls.size > maxReturnedCalls && oldest !== undefined) fleet.returnedCalls.delete(oldest)
}

const maxReturnedCalls = 1000

function isSticky({ handOffCount, returnedCallCount }: FleetView): boolean {
  return handOffCount > 3 && returnedCallCount / handOffCount > stickyShare
}

/** The mean load of the others. Silence is good news: whoever was not heard of for a while counts as idle. */
function averageFleetLoad({ reports }: FleetView, now: number): number {
  let sum = 0
  let weightSum = unknownLoadWeight
  for (const { load, receivedAt } of reports.values()) {
    const weight = now - receivedAt > staleReportMs ? 0 : Math.exp((receivedAt - now) / reportDecayMs)
    sum += load * weight
    weightSum += weight
  }
  return sum / weightSum
}

/** By how much a load has to be worse: less would be no more than what measurements differ by. */
function isClearlyHigher(ownLoad: number, otherLoad: number): boolean {
  return ownLoad > 1.5 * otherLoad + 0.1
}

/** The clocks of two machines differ: what comes from the future is new. */
function reportAge({ handedOffAt }: HandOffReport, { wallTime }: ClockTimes): number {
  return Math.max(0, wallTime - handedOffAt)
}

/** 48 random bits, in eight letters: a fleet has thousands of instances at most, and each tag travels with a call. */
export function randomTag(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
