/** The load of the instance that handed a call off, as the call's state reports it. */
export interface HandOffTag {
  /** The random name of the instance. */
  readonly from: string
  /** Its load when it handed the call off; 1 is its nearest limit. */
  readonly load: number
  /** Time of that, in milliseconds since 1970. */
  readonly at: number
}

/** An instance's view of the others, from the calls that they handed off: no instance has a connection to another. */
export interface FleetView {
  /** The random name of this instance. */
  readonly id: string
  /** The load of each other instance that was heard of, and when; the latest is last. */
  readonly reports: Map<string, { readonly load: number; readonly at: number }>
  /** Recent hand-offs, and those of them that the balancer brought back here. */
  out: number
  back: number
  /** Those that came back, by call: a state that is sent more than once counts once. */
  readonly returned: Set<string>
  /** Time at which a call was last handed off for load. */
  triedAt: number
}

/** A fleet of which nothing was heard. The id is made with its first use: workers have no randomness while they load. */
export function emptyFleetView(randomId: () => string): FleetView {
  let id: string | undefined
  return {
    get id() {
      id ??= randomId()
      return id
    },
    reports: new Map(),
    out: 0,
    back: 0,
    returned: new Set(),
    triedAt: Number.NEGATIVE_INFINITY,
  }
}

/** Milliseconds after which a report counts a third. */
const forgetMs = 5000

/**
 * The load of the instance that a call came from is remembered longer: between equals, no call goes back within five
 * seconds.
 */
const originForgetMs = 12_500

/** Reports that are older, or seem so because clocks differ, are ignored. */
const staleMs = 20_000

/** The number of instances remembered. */
const maxHeard = 32

/** Those that are silent count as one idle instance of this weight. */
const silentWeight = 0.5

/** The number of hand-offs remembered before the older ones count half. */
const maxOut = 8

/**
 * At this share of hand-offs that come back, the balancer is taken for one that sends each client to its own instance.
 */
const stickyShare = 0.8

/** With such a balancer one call in so many milliseconds is handed off, to find out when that changes. */
const stickyMs = 10_000

/** Time as an instance knows it. */
export interface LoadComparison {
  /** Milliseconds, from any beginning. */
  readonly now: number
  /** Milliseconds since 1970. */
  readonly wall: number
}

/**
 * Learns from a call that arrives with a tag. `callId` names this hand-off of this call: a client that sends the state
 * again tells nothing new.
 */
export function recordReport(
  fleet: FleetView,
  { tag, callId }: { tag: HandOffTag; callId: string },
  time: LoadComparison,
): void {
  if (tag.from === fleet.id) return countReturn(fleet, callId)
  const ageMs = reportAge(tag, time)
  if (ageMs > staleMs) return
  const at = time.now - ageMs
  const known = fleet.reports.get(tag.from)
  if (known !== undefined && known.at >= at) return
  fleet.reports.delete(tag.from)
  fleet.reports.set(tag.from, { load: tag.load, at })
  const [oldest] = fleet.reports.keys()
  if (fleet.reports.size > maxHeard && oldest !== undefined) fleet.reports.delete(oldest)
}

/**
 * Decides whether handing this call off is likely to help: whether others are clearly better off than this instance.
 */
export function isWorthHandingOff(
  fleet: FleetView,
  { load, tag }: { load: number; tag: HandOffTag | undefined },
  time: LoadComparison,
): boolean {
  if (!isClearlyWorse(load, othersLoad(fleet, time.now))) return false
  if (isSticky(fleet) && time.now - fleet.triedAt < stickyMs) return false
  // Not back to where it came from, unless that was better off.
  if (tag === undefined || tag.from === fleet.id) return true
  return isClearlyWorse(load, tag.load * Math.exp(-reportAge(tag, time) / originForgetMs))
}

/** Notes that a call is handed off for load, and returns the tag that travels with it. */
export function noteHandOff(fleet: FleetView, load: number, time: LoadComparison): HandOffTag {
  fleet.triedAt = time.now
  fleet.out++
  if (fleet.out > maxOut) {
    fleet.out /= 2
    fleet.back /= 2
  }
  return { from: fleet.id, load, at: time.wall }
}

function countReturn(fleet: FleetView, callId: string): void {
  if (fleet.returned.has(callId)) return
  fleet.returned.add(callId)
  fleet.back++
  const [oldest] = fleet.returned
  if (fleet.returned.size > maxReturned && oldest !== undefined) fleet.returned.delete(oldest)
}

const maxReturned = 1000

function isSticky({ out, back }: FleetView): boolean {
  return out > 3 && back / out > stickyShare
}

/** The mean load of the others. Silence is good news: whoever was not heard of for a while counts as idle. */
function othersLoad({ reports }: FleetView, now: number): number {
  let sum = 0
  let weights = silentWeight
  for (const { load, at } of reports.values()) {
    const weight = now - at > staleMs ? 0 : Math.exp((at - now) / forgetMs)
    sum += load * weight
    weights += weight
  }
  return sum / weights
}

/** By how much a load has to be worse: less would be no more than what measurements differ by. */
function isClearlyWorse(mine: number, theirs: number): boolean {
  return mine > 1.5 * theirs + 0.1
}

/** The clocks of two machines differ: what comes from the future is new. */
function reportAge({ at }: HandOffTag, { wall }: LoadComparison): number {
  return Math.max(0, wall - at)
}
