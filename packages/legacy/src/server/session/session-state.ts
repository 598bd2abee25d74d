import { isLimitError, type Ledger } from '@x/core'
import type { HttpReply } from '@x/exchange'
import type { LoggingLevel, RequestId } from '@x/schema'
import type { ChangeSubscription } from './change-subscription.ts'
import type { LegacySettings } from './options.ts'
import type { Session } from './session.ts'

const defaultLevel: LoggingLevel = 'info'

/** The state of a session at one instance: the settings of its client, and its calls and streams at this instance. */
export class LegacySessionState {
  readonly key: string
  /** The key of the caller for quotas, as `callerKeyOf` returns it. */
  readonly callerKey: string
  level: LoggingLevel = defaultLevel
  /** The resources to which the client subscribes. Each has a function that releases it from the quota of the caller. */
  readonly uris = new Map<string, () => void>()
  /** The calls that can be cancelled, by the ids of their requests. */
  readonly calls = new Map<RequestId, { cancel(reason?: string): void }>()
  /**
   * The connections that wait for a call which this instance does not have yet, by the id of the stream. An answer
   * whose `state` contains the call brings it here (SEP-1685).
   */
  readonly waitingReaders = new Map<string, WaitingReader>()
  /** The streams of calls that can be resumed, by the ids of the streams. */
  readonly streams = new Map<string, ResumableStream>()
  /** The GET stream. A session has at most one. */
  listeningStream: { readonly subscription: ChangeSubscription; end(): void } | undefined
  readonly #ledger: Ledger
  readonly #release: () => void

  /** `release` gives the place of the state in the quota of its caller back. */
  constructor(key: string, callerKey: string, { ledger, release }: { readonly ledger: Ledger; release(): void }) {
    this.key = key
    this.callerKey = callerKey
    this.#ledger = ledger
    this.#release = release
  }

  get isBusy(): boolean {
    return (
      this.calls.size > 0 || this.streams.size > 0 || this.waitingReaders.size > 0 || this.listeningStream !== undefined
    )
  }

  get hasSettings(): boolean {
    return this.uris.size > 0 || this.level !== defaultLevel
  }

  get detachedStreams(): readonly ResumableStream[] {
    return Array.from(this.streams.values()).filter(({ isDetached }) => isDetached)
  }

  setLevel(level: LoggingLevel): void {
    this.level = level
  }

  /** Adds a subscription to a resource. Throws `LimitError` if the caller has too many. */
  addUri(uri: string): void {
    if (!this.uris.has(uri)) this.uris.set(uri, this.#ledger.take('uris', this.callerKey))
  }

  removeUri(uri: string): boolean {
    this.uris.get(uri)?.()
    return this.uris.delete(uri)
  }

  /** Applies the stored log level and subscriptions, which requests to other instances may have changed. */
  applySettings({ level, uris }: { readonly level: LoggingLevel | undefined; readonly uris: readonly string[] }): void {
    this.level = level ?? defaultLevel
    for (const uri of Array.from(this.uris.keys())) if (!uris.includes(uri)) this.removeUri(uri)
    for (const uri of uris) this.addUri(uri)
    void this.listeningStream?.subscription.update(this.uris.keys())
  }

  /** Cancels the calls, and ends the streams. */
  end(): void {
    this.listeningStream?.end()
    for (const { reply } of this.waitingReaders.values()) reply.end()
    for (const call of this.calls.values()) call.cancel()
    for (const stream of this.streams.values()) stream.abandon()
  }

  /** Releases the state and its subscriptions from the quota of the caller. */
  release(): void {
    for (const releaseUri of this.uris.values()) releaseUri()
    this.#release()
  }
}

/** A connection on which the client waits for the call of its stream. */
export interface WaitingReader {
  readonly reply: HttpReply
  readonly lastEventNumber: number
  /** Ends the wait, and releases the quota of the caller. */
  release(): void
}

/** A stream that a client can resume. */
export interface ResumableStream {
  readonly id: string
  readonly isDetached: boolean
  /** Ends the stream and its call without an answer. */
  abandon(): void
}

/**
 * The largest number of disconnected streams that one instance keeps. Each needs at most `maxQueuedBytes` of the
 * transport.
 */
// limit: broken streams | count | broken streams that are kept for their readers | the caller with the most broken
//   streams loses the oldest one
const maxStreams = 1000
/** The largest number of disconnected streams of one session. It is more than a host has calls running at a time. */
// limit: streams of a session | count | broken streams that are kept for one session | the oldest is dropped
const maxStreamsOfSession = 16

/** The states of the sessions that this instance knows. */
export class SessionStates {
  readonly #states = new Map<string, LegacySessionState>()
  readonly #settings: LegacySettings
  readonly #ledger: Ledger

  constructor(settings: LegacySettings, ledger: Ledger) {
    this.#settings = settings
    this.#ledger = ledger
  }

  /** Returns the state of a session, which is created if it does not exist. */
  getOrCreate({ key }: Session, callerKey: string): LegacySessionState {
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = new LegacySessionState(key, callerKey, { ledger: this.#ledger, release: this.#takePlace(callerKey) })
    this.#states.set(key, state)
    return state
  }

  /** Returns the state of a session. Undefined if this instance has none. */
  find({ key }: Pick<Session, 'key'>): LegacySessionState | undefined {
    return this.#states.get(key)
  }

  list(): readonly LegacySessionState[] {
    return [...this.#states.values()]
  }

  /** Removes a state that has no calls, no streams and no settings. */
  removeIfEmpty(state: LegacySessionState): void {
    if (this.#states.get(state.key) === state && !state.isBusy && !state.hasSettings) this.#remove(state)
  }

  /** Cancels the calls of a session, ends its streams, and removes its state. */
  end({ key }: Pick<Session, 'key'>): void {
    const state = this.#states.get(key)
    if (state === undefined) return
    this.#remove(state)
    state.end()
  }

  /**
   * Enforces the limits after a client of a stream has disconnected. Above a limit, the oldest disconnected stream of
   * the caller with the most such streams is ended.
   */
  makeRoomForStream(state: LegacySessionState): void {
    this.#abandonOldestStream([state], maxStreamsOfSession)
    this.#abandonOldestStream(this.list(), maxStreams)
  }

  #abandonOldestStream(states: readonly LegacySessionState[], maxCount: number): void {
    const streams = states.flatMap(({ detachedStreams, callerKey }) =>
      detachedStreams.map((stream) => ({ stream, callerKey })),
    )
    if (streams.length <= maxCount) return
    entriesOfLargestCaller(streams)[0]?.stream.abandon()
    const message = `More than ${maxCount} broken streams wait for their readers: one was ended`
    this.#settings.warn({ code: 'limit', message })
  }

  #remove(state: LegacySessionState): void {
    this.#states.delete(state.key)
    state.release()
  }

  /** Counts a state in the quota of a caller. At the limit, an idle state of the caller with the most states is removed. */
  #takePlace(callerKey: string): () => void {
    try {
      return this.#ledger.take('sessions', callerKey)
    } catch (error) {
      if (!isLimitError(error)) throw error
      const owner = error.scope === 'caller' ? callerKey : this.#ledger.greediestCaller('sessions')
      const idleState = this.list().find((state) => state.callerKey === owner && !state.isBusy)
      if (idleState === undefined) throw error
      this.#remove(idleState)
      const message = 'More sessions than are remembered have set a log level or subscriptions: one was forgotten'
      this.#settings.warn({ code: 'limit', message })
      return this.#ledger.take('sessions', callerKey)
    }
  }
}

/** Returns the entries of the caller that has the most entries, in the same order. So other callers lose no entries. */
function entriesOfLargestCaller<Entry extends { readonly callerKey: string }>(
  entries: readonly Entry[],
): readonly Entry[] {
  const countByCaller = new Map<string, number>()
  for (const { callerKey } of entries) countByCaller.set(callerKey, (countByCaller.get(callerKey) ?? 0) + 1)
  const [largestEntry] = Array.from(countByCaller).toSorted(
    ([, firstCount], [, secondCount]) => secondCount - firstCount,
  )
  return entries.filter(({ callerKey }) => callerKey === largestEntry?.[0])
}
