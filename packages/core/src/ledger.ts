import { checkedNumber } from './checked-number.ts'
/** The bounds of one kind of resource that a {@link Ledger} counts. */
export interface LedgerBound {
  /** The amount that one caller may have at once. */
  readonly perCaller: number
  /** The amount that all callers together may have at once. */
  readonly total: number
  /** A remedy other than waiting, which the message of the error suggests. */
  readonly advice?: string | undefined
}

/** Milliseconds after which a caller that reached a bound may try again. Most counted things end within seconds. */
const retryAfterMs = 1000

const mebibyte = 1024 * 1024
const unbounded = Number.POSITIVE_INFINITY

/**
 * The bounds of everything that a process keeps for a peer after it has read one message. `total` is the amount that
 * fits a heap of 256 MB. `perCaller` is less, so that one caller leaves room for others.
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

/** The kinds that a {@link Ledger} counts. */
export type LedgerKind = keyof typeof ledgerBounds

/** The bounds for one caller that an author may set. The defaults are in {@link ledgerBounds}. */
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

/** The kind of each option of {@link LedgerLimits}. */
export const ledgerLimitTable = {
  calls: 'calls',
  waitingCalls: 'waiting_calls',
  streams: 'streams',
  tasks: 'tasks',
  sessions: 'sessions',
  bytes: 'bytes',
} as const satisfies Record<keyof LedgerLimits, LedgerKind>

/** The error for a request that would exceed a bound. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
  readonly kind: LedgerKind
  readonly max: number
  /** `caller` if one caller reached its own bound, `all` if all callers together reached the total. */
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

/** Returns true if a value is a {@link LimitError}, from this copy of the package or another. */
export function isLimitError(error: unknown): error is LimitError {
  return error instanceof Error && error.name === 'LimitError' && 'kind' in error && 'scope' in error
}

/**
 * Counts everything that a process keeps for its callers, by kind and by caller. A server has one ledger. All its
 * transports and extensions count in it, so that one bound of each kind holds for a caller across all of them.
 */
export interface Ledger {
  /**
   * Adds an amount of a kind to the count of a caller, 1 by default. Returns a function that subtracts it again. Only
   * the first call of that function has an effect. Throws {@link LimitError} when the amount would exceed the bound of
   * the caller or the total. Keys come from `callerKeyOf` of `@x/exchange`.
   */
  take(kind: LedgerKind, callerKey: string, amount?: number): () => void
  /** Throws the error that {@link take} would throw, and counts nothing. */
  check(kind: LedgerKind, callerKey: string, amount?: number): void
  /** Returns the amount that a caller has of a kind. */
  usedBy(kind: LedgerKind, callerKey: string): number
  /** Returns the amount that all callers have of a kind. */
  usedInAll(kind: LedgerKind): number
  /**
   * Returns the key of the caller that has most of a kind. When something has to be dropped, the state of this caller
   * is dropped.
   */
  greediestCaller(kind: LedgerKind): string | undefined
  /** Returns the bounds of a kind. */
  boundOf(kind: LedgerKind): LedgerBound
}

/** The counts of one kind. */
interface KindCount {
  readonly bound: LedgerBound
  readonly usedByCaller: Map<string, number>
  usedInAll: number
}

/**
 * Makes a ledger whose counts are zero. Throws a `RangeError` for a limit that is not a number from 1.
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
    // The caller's own bound is checked first, because the caller can do something about it.
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
    // A limit for one caller above the default also raises the total, by the same factor.
    const total = bound.total * Math.max(1, perCaller / bound.perCaller)
    return [kind, { bound: { ...bound, perCaller, total }, usedByCaller: new Map(), usedInAll: 0 }]
  })
  // The cast is safe, because the entries have the keys of the table.
  return Object.fromEntries(entries) as Record<LedgerKind, KindCount>
}

function adjustCount(count: KindCount, callerKey: string, amount: number): void {
  const used = (count.usedByCaller.get(callerKey) ?? 0) + amount
  count.usedInAll += amount
  // A caller whose count is zero is deleted, so that the map does not grow with the number of callers.
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
