import { checkedNumber } from './checked-number.ts'
/** How much of one kind a {@link Ledger} allows. */
export interface LedgerBound {
  /** What one caller may have at once. */
  readonly perCaller: number
  /** What all callers together may have at once. */
  readonly total: number
  /** Suggested by the error's message, if waiting is not the only remedy. */
  readonly advice?: string | undefined
}

/** Most counted things end within seconds. */
const retryAfterMs = 1000

const mebibyte = 1024 * 1024
const unbounded = Number.POSITIVE_INFINITY

/**
 * Bounds of everything that a process keeps for a peer after it has read one message. `total` is what fits a heap of
 * 256 MB. `perCaller` is less, so that one caller leaves room for others.
 */
export const ledgerBounds = {
  /** Connections of a proxy to servers of older revisions. Each serves one host. Over stdio, each is a process. */
  upstream_connections: { perCaller: 16, total: 256, advice: 'end a call or a session' },
  /** Running calls. `shedding.hardLimit` bounds their total, because only the author knows the cost of a call. */
  calls: { perCaller: 1000, total: unbounded, advice: 'wait for the response to another call' },
  /**
   * Calls of older clients that wait for the answer to a question. Each keeps its request and its journal in memory.
   */
  waiting_calls: { perCaller: 100, total: 10_000, advice: 'answer or cancel a call that waits' },
  /** Open streams of changes. Each takes about 7 KB, of which 6 are its connection. */
  streams: { perCaller: 100, total: 10_000, advice: 'end a subscription' },
  /** Lists and URIs that streams of changes follow. Each takes about 100 bytes. */
  topics: { perCaller: 10_000, total: 100_000, advice: 'end a subscription' },
  /** URIs to which sessions of older clients subscribe. */
  uris: { perCaller: 2000, total: 20_000, advice: 'unsubscribe from a resource' },
  /** Questions that wait for the answer of an older client. */
  questions: { perCaller: 100, total: 10_000, advice: 'answer a question that waits' },
  /** Sessions of older clients for which this process keeps state. */
  sessions: { perCaller: 1000, total: 10_000, advice: 'delete a session' },
  /**
   * Deleted sessions of older clients. The process remembers each until it would have expired, in about 150 bytes. At a
   * bound, a DELETE gets 405, and the id of its session stays valid until it expires.
   */
  ended_sessions: { perCaller: 20_000, total: 200_000 },
  /** Open resources of sessions, such as browsers or connections of a handler. Even a few of them need much memory. */
  session_resources: { perCaller: 100, total: 1000, advice: 'delete a session' },
  /** Stored tasks of every status. The store counts them, so that the bound holds for all instances together. */
  tasks: { perCaller: 1000, total: unbounded, advice: 'wait until a task has ended' },
  /** Stored values of `requestState` and of sessions. The store counts them. */
  states: { perCaller: 1000, total: 10_000, advice: 'end a call that waits' },
  /** Bytes of arguments, journals and buffered events that are kept between messages. */
  bytes: { perCaller: 16 * mebibyte, total: 64 * mebibyte, advice: 'end a call that waits' },
  /**
   * Bytes of streams of older clients that have ended. They are kept for some seconds, because the connection may have
   * broken before the client received the response. At a bound, the oldest stream is dropped.
   */
  finished_bytes: { perCaller: 2 * mebibyte, total: 32 * mebibyte },
  /** Bytes of request bodies that have only partly arrived. */
  arriving_bytes: { perCaller: 32 * mebibyte, total: 128 * mebibyte },
  /** Bytes of finished responses that the client has not read yet. */
  unread_bytes: { perCaller: 64 * mebibyte, total: 256 * mebibyte, advice: 'read the responses to other calls' },
  /**
   * Requests to an authorization server about tokens of a caller, running or waiting. For each caller 8 run at once.
   */
  introspections: { perCaller: 64, total: 1000 },
  /**
   * Proofs of possession, each remembered for about two minutes. The bound allows about 70 requests a second with one
   * key.
   */
  proofs: { perCaller: 10_000, total: 100_000 },
} as const satisfies Record<string, LedgerBound>

/** What a {@link Ledger} counts. */
export type LedgerKind = keyof typeof ledgerBounds

/** Bounds for one caller that an author may set. The defaults are in {@link ledgerBounds}. */
export interface LedgerLimits {
  /** Calls that run at once, 1,000 by default. */
  readonly calls?: number | undefined
  /** Calls of older clients that wait for the answer to a question, 100 by default. */
  readonly waitingCalls?: number | undefined
  /** Streams of changes, 100 by default. */
  readonly streams?: number | undefined
  /** Stored tasks of every status, 1,000 by default. */
  readonly tasks?: number | undefined
  /** Sessions of older clients, 1,000 by default. */
  readonly sessions?: number | undefined
  /** Bytes that are kept between two messages, 16 MiB by default. */
  readonly bytes?: number | undefined
}

/** Which kind each option of {@link LedgerLimits} limits. */
export const ledgerLimitTable = {
  calls: 'calls',
  waitingCalls: 'waiting_calls',
  streams: 'streams',
  tasks: 'tasks',
  sessions: 'sessions',
  bytes: 'bytes',
} as const satisfies Record<keyof LedgerLimits, LedgerKind>

/** A request would exceed a bound. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
  readonly kind: LedgerKind
  readonly max: number
  /** `caller` if one caller reached its own bound, `all` if all together reached the total. */
  readonly scope: 'caller' | 'all'
  readonly retryAfterMs = retryAfterMs
  readonly advice: string | undefined

  constructor(
    kind: LedgerKind,
    { scope, max, advice }: { scope: 'caller' | 'all'; max: number; advice?: string | undefined },
  ) {
    super(`${kind} have reached their limit, which is ${max} for ${scope === 'caller' ? 'each caller' : 'all callers'}`)
    this.kind = kind
    this.scope = scope
    this.max = max
    this.advice = advice
  }
}

/** True for a {@link LimitError}, also one of another copy of this package. */
export function isLimitError(error: unknown): error is LimitError {
  return error instanceof Error && error.name === 'LimitError' && 'kind' in error && 'scope' in error
}

/**
 * Counts everything that a process keeps for its callers, by kind and by caller. A server has one; all its transports
 * and extensions count in it, so that a bound holds for a caller across all of them.
 */
export interface Ledger {
  /**
   * Adds to a caller's count of a kind, 1 by default. The returned function subtracts it again, once. Throws
   * {@link LimitError} when the bound of the caller or the total would be exceeded. Keys come from `callerKeyOf` of
   * `@x/exchange`.
   */
  take(kind: LedgerKind, callerKey: string, amount?: number): () => void
  /** Throws what {@link take} would throw, and counts nothing. */
  check(kind: LedgerKind, callerKey: string, amount?: number): void
  /** What a caller has of a kind. */
  usedBy(kind: LedgerKind, callerKey: string): number
  /** What all callers have of a kind. */
  usedInAll(kind: LedgerKind): number
  /** Key of the caller that has most of a kind: when something has to be dropped, it is this caller's. */
  greediestCaller(kind: LedgerKind): string | undefined
  /** Bounds of a kind. */
  boundOf(kind: LedgerKind): LedgerBound
}

interface KindCount {
  readonly bound: LedgerBound
  readonly usedByCaller: Map<string, number>
  usedInAll: number
}

/**
 * All counts are zero at first. Throws a `RangeError` for a limit that is not a number from 1.
 *
 * @example
 * const ledger = createLedger({ calls: 50 })
 * const release = ledger.take('calls', callerKeyOf(call))
 */
export function createLedger(
  limits: LedgerLimits = {},
  bounds: Readonly<Partial<Record<LedgerKind, LedgerBound>>> = {},
): Ledger {
  const counts = createCounts(limits, bounds)

  function check(kind: LedgerKind, callerKey: string, amount = 1): void {
    const { bound, usedByCaller, usedInAll } = counts[kind]
    // The caller's own bound comes first, because the caller can do something about it.
    if ((usedByCaller.get(callerKey) ?? 0) + amount > bound.perCaller)
      throw new LimitError(kind, { ...bound, scope: 'caller', max: bound.perCaller })
    if (usedInAll + amount > bound.total) throw new LimitError(kind, { ...bound, scope: 'all', max: bound.total })
  }

  return {
    check,
    take: (kind, callerKey, amount = 1) => {
      check(kind, callerKey, amount)
      const count = counts[kind]
      adjustCount(count, callerKey, amount)
      let isTaken = true
      return () => {
        if (isTaken) adjustCount(count, callerKey, -amount)
        isTaken = false
      }
    },
    usedBy: (kind, callerKey) => counts[kind].usedByCaller.get(callerKey) ?? 0,
    usedInAll: (kind) => counts[kind].usedInAll,
    greediestCaller: (kind) => findGreediest(counts[kind].usedByCaller),
    boundOf: (kind) => counts[kind].bound,
  }
}

function createCounts(
  limits: LedgerLimits,
  bounds: Readonly<Partial<Record<LedgerKind, LedgerBound>>>,
): Record<LedgerKind, KindCount> {
  const limitByKind = new Map<string, number>()
  for (const [limit, kind] of Object.entries(ledgerLimitTable) as [keyof LedgerLimits, LedgerKind][]) {
    const value = limits[limit]
    if (value !== undefined) limitByKind.set(kind, checkedNumber(`limits.${limit}`, value, { isWhole: false }))
  }
  const entries = Object.entries<LedgerBound>({ ...ledgerBounds, ...bounds }).map(([kind, bound]) => {
    const perCaller = limitByKind.get(kind) ?? bound.perCaller
    // A limit for one caller above the default raises the total too, by the same factor.
    const total = bound.total * Math.max(1, perCaller / bound.perCaller)
    return [kind, { bound: { ...bound, perCaller, total }, usedByCaller: new Map(), usedInAll: 0 }]
  })
  // The cast is safe: the entries have the keys of the table.
  return Object.fromEntries(entries) as Record<LedgerKind, KindCount>
}

function adjustCount(count: KindCount, callerKey: string, amount: number): void {
  const used = (count.usedByCaller.get(callerKey) ?? 0) + amount
  count.usedInAll += amount
  // Deleted at zero, so that the map does not grow with the number of callers.
  if (used > 0) count.usedByCaller.set(callerKey, used)
  else count.usedByCaller.delete(callerKey)
}

function findGreediest(usedByCaller: ReadonlyMap<string, number>): string | undefined {
  let greediest: string | undefined
  let most = 0
  for (const [callerKey, used] of usedByCaller) {
    if (used <= most) continue
    greediest = callerKey
    most = used
  }
  return greediest
}
