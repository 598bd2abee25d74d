import { checkedNumber } from './checked-number.ts'
/** The bounds of one kind. */
export interface LedgerBound {
  /** The amount that one caller may have at once. */
  readonly perCaller: number
  /** The amount that all callers together may have at once. */
  readonly total: number
  /** A remedy other than waiting, for the message of the error. */
  readonly advice?: string | undefined
}

/** Milliseconds after which a caller at a bound may try again: most of what is counted ends within seconds. */
const retryAfterMs = 1000

const mebibyte = 1024 * 1024
const unbounded = Number.POSITIVE_INFINITY

/**
 * Everything that a process keeps for a peer beyond the reading of one message, with its bounds. A bound for all
 * callers is what a process with 256 MB of heap can hold. A bound of one caller leaves room for others.
 */
export const ledgerBounds = {
  /** Calls that run. `shedding.hardLimit` bounds their total, because only the author knows what a call costs. */
  calls: { perCaller: 1000, total: unbounded, advice: 'wait for the answer to another call' },
  /** Calls of older clients that wait for an answer: each keeps its request and its journal. */
  waiting_calls: { perCaller: 100, total: 10_000, advice: 'answer or cancel a call that waits' },
  /** Streams of changes. Each costs about 2 KB. */
  streams: { perCaller: 100, total: 10_000, advice: 'end a subscription' },
  /** Lists and URIs of all streams. Each costs about 100 bytes. */
  topics: { perCaller: 10_000, total: 100_000, advice: 'end a subscription' },
  /** URIs to which sessions of older clients subscribe. */
  uris: { perCaller: 2000, total: 20_000, advice: 'unsubscribe from a resource' },
  /** Questions that wait for the answer of an older client. */
  questions: { perCaller: 100, total: 10_000, advice: 'answer a question that waits' },
  /** Sessions of older clients that this process keeps something of. */
  sessions: { perCaller: 1000, total: 10_000, advice: 'delete a session' },
  /** Sessions of older clients that were deleted: remembered until they would have expired, in about 150 bytes each. */
  ended_sessions: { perCaller: 20_000, total: 200_000, advice: 'let sessions expire' },
  /** Open resources of sessions, such as browsers or connections of a handler: a few are a lot. */
  session_resources: { perCaller: 100, total: 1000, advice: 'delete a session' },
  /** Kept tasks of every status. Their store counts them, so that the bound holds for a fleet. */
  tasks: { perCaller: 1000, total: unbounded, advice: 'wait until a task has ended' },
  /** Stored values of `requestState` and of sessions. Their store counts them. */
  states: { perCaller: 1000, total: 10_000, advice: 'end a call that waits' },
  /** Bytes of arguments, journals and buffered events that are kept between messages. */
  bytes: { perCaller: 16 * mebibyte, total: 64 * mebibyte, advice: 'end a call that waits' },
  /** Bytes of request bodies that have not arrived whole. */
  arriving_bytes: { perCaller: 32 * mebibyte, total: 128 * mebibyte },
  /** Bytes of finished answers that their clients have not read. */
  unread_bytes: { perCaller: 64 * mebibyte, total: 256 * mebibyte, advice: 'read the answers to other calls' },
  /** Requests to an authorization server about tokens of a caller, that run or wait. 8 of a caller run at once. */
  introspections: { perCaller: 64, total: 1000 },
  /** Proofs of possession that are remembered, for about two minutes: some 70 requests a second with one key. */
  proofs: { perCaller: 10_000, total: 100_000 },
} as const satisfies Record<string, LedgerBound>

/** The kinds that a {@link Ledger} counts. */
export type LedgerKind = keyof typeof ledgerBounds

/** The bounds of one caller that an author may set. {@link ledgerBounds} has the defaults. */
export interface LedgerLimits {
  /** Calls that run at once, 1,000 by default. */
  readonly calls?: number | undefined
  /** Calls of older clients that wait for an answer, 100 by default. */
  readonly waitingCalls?: number | undefined
  /** Streams of changes, 100 by default. */
  readonly streams?: number | undefined
  /** Kept tasks of every status, 1,000 by default. */
  readonly tasks?: number | undefined
  /** Sessions of older clients, 1,000 by default. */
  readonly sessions?: number | undefined
  /** Bytes that are kept between two messages, 16 MiB by default. */
  readonly bytes?: number | undefined
}

const kindsByLimit = {
  calls: 'calls',
  waitingCalls: 'waiting_calls',
  streams: 'streams',
  tasks: 'tasks',
  sessions: 'sessions',
  bytes: 'bytes',
} as const satisfies Record<keyof LedgerLimits, LedgerKind>

/** The error of a bound that was reached. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
  readonly kind: LedgerKind
  readonly max: number
  /** `caller` for the bound of one caller, `all` for the bound that all callers share. */
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

/** Returns whether a value is a {@link LimitError}, from this copy of the package or another. */
export function isLimitError(error: unknown): error is LimitError {
  return error instanceof Error && error.name === 'LimitError' && 'kind' in error && 'scope' in error
}

/**
 * Counts everything that a process keeps for its callers, by kind and by caller. A server has one. Its transports and
 * extensions count on it, so that a caller has one bound of each kind over all of them.
 */
export interface Ledger {
  /**
   * Takes an amount of a kind for a caller, one by default. Returns the function that gives it back. Further calls of
   * that function do nothing. Throws {@link LimitError} when the caller, or all callers together, have as much as the
   * bound. Keys come from `callerKeyOf` of `@x/schema`.
   */
  take(kind: LedgerKind, callerKey: string, amount?: number): () => void
  /** Throws the error of {@link take} without taking anything. */
  check(kind: LedgerKind, callerKey: string, amount?: number): void
  /** Returns the amount that a caller has of a kind. */
  usedBy(kind: LedgerKind, callerKey: string): number
  /** Returns the amount that all callers have of a kind. */
  usedInAll(kind: LedgerKind): number
  /** Returns the key of the caller with the most of a kind: where something may be dropped, it is dropped there. */
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
 * Makes a ledger on which nothing is counted yet. Throws a `RangeError` for a limit that is not a number from 1.
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
    // The caller's own bound first: the caller can do something about it.
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
  for (const [limit, kind] of Object.entries(kindsByLimit) as [keyof LedgerLimits, LedgerKind][]) {
    const value = limits[limit]
    if (value !== undefined) limitByKind.set(kind, checkedNumber(`limits.${limit}`, value, { isWhole: false }))
  }
  const entries = Object.entries<LedgerBound>({ ...ledgerBounds, ...bounds }).map(([kind, bound]) => {
    const perCaller = limitByKind.get(kind) ?? bound.perCaller
    // A limit above the default raises the bound for all callers with it, by the same factor.
    const total = bound.total * Math.max(1, perCaller / bound.perCaller)
    return [kind, { bound: { ...bound, perCaller, total }, usedByCaller: new Map(), usedInAll: 0 }]
  })
  // The keys are those of the table.
  return Object.fromEntries(entries) as Record<LedgerKind, KindCount>
}

function adjustCount(count: KindCount, callerKey: string, amount: number): void {
  const used = (count.usedByCaller.get(callerKey) ?? 0) + amount
  count.usedInAll += amount
  // A caller that has nothing is forgotten: the map grows with what is kept, and not with the number of callers.
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
