import { isLimitError, type Ledger } from '@x/core'
import type { HttpReply } from '@x/exchange'
import type { LoggingLevel, RequestId } from '@x/schema'
import type { ChangeSubscription } from './change-subscription.ts'
import type { LegacySettings } from './options.ts'
import type { Session } from './session.ts'

const defaultLevel: LoggingLevel = 'info'

/** A session at one instance: its client's settings, and its calls and streams here. */
export class LegacySessionState {
  readonly key: string
  /** For quotas, as `callerKeyOf` returns it. */
  readonly callerKey: string
  level: LoggingLevel = defaultLevel
  /** Resources to which the client subscribes. Each has a function that releases it from the caller's quota. */
  readonly uris = new Map<string, () => void>()
  /** Calls that can be cancelled, by the ids of their requests. */
  readonly calls = new Map<RequestId, { cancel(reason?: string): void }>()
  /**
   * Connections that wait for a call which this instance does not have yet, by the id of the stream. An answer whose
   * `state` contains the call brings it here (SEP-1685). `release` ends the wait, and releases the caller's quota.
   */
  readonly waitingReaders = new Map<
    string,
    { readonly reply: HttpReply; readonly lastEventNumber: number; release(): void }
  >()
  /** Streams of calls that can be resumed, by their ids. */
  readonly streams = new Map<string, ResumableStream>()
  /** A session has at most one GET stream. */
  listeningStream: { readonly subscription: ChangeSubscription; end(): void } | undefined
  readonly #ledger: Ledger
  readonly #release: () => void

  /** `release` gives the state's place in the quota of its caller back. */
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

  /** Subscribes to a resource. Throws `LimitError` if the caller has too many. */
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

  end(): void {
    this.listeningStream?.end()
    for (const { reply } of this.waitingReaders.values()) reply.end()
    for (const call of this.calls.values()) call.cancel()
    for (const stream of this.streams.values()) stream.abandon()
  }

  /** Releases the state and its subscriptions from the caller's quota. */
  release(): void {
    for (const releaseUri of this.uris.values()) releaseUri()
    this.#release()
  }
}

export interface ResumableStream {
  readonly isDetached: boolean
  /** Ends the stream and its call without an answer. */
  abandon(): void
}

/** Each disconnected stream needs at most `maxQueuedBytes` of the transport. */
// limit: broken streams | count | broken streams that are kept for their readers | the caller with the most broken
//   streams loses the oldest one
const maxStreams = 1000
/** More than a host has calls running at a time. */
// limit: streams of a session | count | broken streams that are kept for one session | the oldest is dropped
const maxStreamsOfSession = 16

/** Sessions that this instance knows. */
export class SessionStates {
  readonly #states = new Map<string, LegacySessionState>()
  readonly #settings: LegacySettings
  readonly #ledger: Ledger

  constructor(settings: LegacySettings, ledger: Ledger) {
    this.#settings = settings
    this.#ledger = ledger
  }

  getOrCreate({ key }: Session, callerKey: string): LegacySessionState {
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = new LegacySessionState(key, callerKey, { ledger: this.#ledger, release: this.#takePlace(callerKey) })
    this.#states.set(key, state)
    return state
  }

  /** Undefined if this instance does not know the session. */
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

  /** Cancels a session's calls, ends its streams, and removes its state. */
  end({ key }: Pick<Session, 'key'>): void {
    const state = this.#states.get(key)
    if (state === undefined) return
    this.#remove(state)
    state.end()
  }

  /**
   * Enforces the limits after a stream's client has disconnected. Above one, the caller with the most disconnected
   * streams loses the oldest.
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

  /**
   * Counts a state in its caller's quota. At the limit, an idle state of the caller with the most states is removed.
   */
  #takePlace(callerKey: string): () => void {
    try {
      return this.#ledger.take('sessions', callerKey)
    } catch (error) {
      if (!isLimitError(error)) throw error
      const owner = error.scope === 'caller' ? callerKey : this.#ledger.greediestCaller('sessions')
      const idleState = this.list().find((state) => state.callerKey === owner && !state.isBusy)
      if (idleState === undefined) throw error
      this.#remove(idleState)
      const message = 'Too many sessions have set a log level or subscriptions: the settings of one were dropped'
      this.#settings.warn({ code: 'limit', message })
      return this.#ledger.take('sessions', callerKey)
    }
  }
}

/** Entries of the caller that has the most, in the same order, so that other callers lose none. */
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
