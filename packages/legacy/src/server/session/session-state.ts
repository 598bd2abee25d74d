import { isLimitError, type Ledger } from '@x/core'
import type { HttpReply } from '@x/exchange'
import type { LoggingLevel, RequestId } from '@x/schema'
import type { ChangeSubscription } from './change-subscription.ts'
import type { LegacySettings } from './options.ts'
import type { Session } from './session.ts'

/** The state of a session at one instance: the settings of its client, and its calls and streams at this instance. */
export interface LegacySessionState {
  readonly key: string
  /** The key of the caller for quotas, as `callerKeyOf` returns it. */
  readonly callerKey: string
  level: LoggingLevel
  /**
   * The resources to which the client subscribes. Each has a function that releases it from the quota of the caller.
   */
  readonly uris: Map<string, () => void>
  /** The calls that can be cancelled, by the ids of their requests. */
  readonly calls: Map<RequestId, { cancel(reason?: string): void }>
  /**
   * The connections that wait for a call which this instance does not have yet, by the id of the stream. An answer
   * whose `state` contains the call brings it here (SEP-1685).
   */
  readonly waitingReaders: Map<string, WaitingReader>
  /** The streams of calls that can be resumed, by the ids of the streams. */
  readonly streams: Map<string, ResumableStream>
  /** The GET stream. A session has at most one. */
  listeningStream: { readonly subscription: ChangeSubscription; end(): void } | undefined
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

/** The states of the sessions that this instance knows. */
export interface SessionStates {
  /**
   * Returns the state of a session, which is created if it does not exist. At the limit, an idle state of the caller
   * with the most states is removed.
   */
  getOrCreate(session: Session, callerKey: string): LegacySessionState
  /** Returns the state of a session. Undefined if this instance has none. */
  find(session: Pick<Session, 'key'>): LegacySessionState | undefined
  /** Removes a state that has no calls, no streams and no settings. */
  removeIfEmpty(state: LegacySessionState): void
  /** Cancels the calls of a session, ends its streams, and removes its state. */
  end(session: Pick<Session, 'key'>): void
  /** Applies the stored log level and subscriptions, which requests to other instances may have changed. */
  applyStoredSettings(
    state: LegacySessionState,
    storedSettings: { readonly level: LoggingLevel | undefined; readonly uris: readonly string[] },
  ): void
  listStates(): readonly LegacySessionState[]
  /** Adds a subscription to a resource. Throws `LimitError` if the caller has too many. */
  addUri(uri: string, state: LegacySessionState): void
  removeUri(uri: string, state: LegacySessionState): boolean
  /**
   * Enforces the limits after a client of a stream has disconnected. Above a limit, the oldest disconnected stream of
   * the caller with the most such streams is ended.
   */
  makeRoomForStream(state: LegacySessionState): void
}

const defaultLevel: LoggingLevel = 'info'
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

/** A state, and a function that releases it from the quota of its caller. */
interface StateEntry {
  readonly state: LegacySessionState
  readonly release: () => void
}

/** Creates the map of states by session key. Each state counts in the quota of its caller. */
function createStateEntries(settings: LegacySettings, ledger: Ledger) {
  const entries = new Map<string, StateEntry>()
  const remove = ({ state, release }: StateEntry): void => {
    entries.delete(state.key)
    for (const releaseUri of state.uris.values()) releaseUri()
    release()
  }
  /**
   * Counts a state in the quota of a caller. At the limit, an idle state of the caller with the most states is removed.
   */
  const takePlace = (callerKey: string): (() => void) => {
    try {
      return ledger.take('sessions', callerKey)
    } catch (error) {
      if (!isLimitError(error)) throw error
      const owner = error.scope === 'caller' ? callerKey : ledger.greediestCaller('sessions')
      const idleEntry = Array.from(entries.values()).find(({ state }) => state.callerKey === owner && !isBusy(state))
      if (idleEntry === undefined) throw error
      remove(idleEntry)
      const message = 'More sessions than are remembered have set a log level or subscriptions: one was forgotten'
      settings.warn({ code: 'limit', message })
      return ledger.take('sessions', callerKey)
    }
  }
  return {
    remove,
    find: (key: string): StateEntry | undefined => entries.get(key),
    add(state: LegacySessionState): LegacySessionState {
      entries.set(state.key, { state, release: takePlace(state.callerKey) })
      return state
    },
    list: (): LegacySessionState[] => Array.from(entries.values(), ({ state }) => state),
  }
}

/** Creates {@link SessionStates} without a session. */
export function createSessionStates(settings: LegacySettings, ledger: Ledger): SessionStates {
  const entries = createStateEntries(settings, ledger)
  const abandonOldestStream = (streams: readonly DetachedStream[], maxCount: number): void => {
    if (streams.length <= maxCount) return
    entriesOfLargestCaller(streams)[0]?.stream.abandon()
    settings.warn({
      code: 'limit',
      message: `More than ${maxCount} broken streams wait for their readers: one was ended`,
    })
  }
  const addUri: SessionStates['addUri'] = (uri, state) => {
    if (!state.uris.has(uri)) state.uris.set(uri, ledger.take('uris', state.callerKey))
  }
  const removeUri: SessionStates['removeUri'] = (uri, state) => {
    state.uris.get(uri)?.()
    return state.uris.delete(uri)
  }

  return {
    getOrCreate: ({ key }, callerKey) => entries.find(key)?.state ?? entries.add(createSessionState(key, callerKey)),
    find: ({ key }) => entries.find(key)?.state,
    removeIfEmpty(state) {
      const entry = entries.find(state.key)
      if (entry?.state !== state || isBusy(state)) return
      if (state.uris.size === 0 && state.level === defaultLevel) entries.remove(entry)
    },
    end({ key }) {
      const entry = entries.find(key)
      if (entry === undefined) return
      const { state } = entry
      entries.remove(entry)
      state.listeningStream?.end()
      for (const { reply } of state.waitingReaders.values()) reply.end()
      for (const call of state.calls.values()) call.cancel()
      for (const stream of state.streams.values()) stream.abandon()
    },
    applyStoredSettings(state, { level, uris }) {
      state.level = level ?? defaultLevel
      for (const uri of Array.from(state.uris.keys())) if (!uris.includes(uri)) removeUri(uri, state)
      for (const uri of uris) addUri(uri, state)
      void state.listeningStream?.subscription.update(state.uris.keys())
    },
    listStates: entries.list,
    addUri,
    removeUri,
    makeRoomForStream(state) {
      abandonOldestStream(collectDetachedStreams([state]), maxStreamsOfSession)
      abandonOldestStream(collectDetachedStreams(entries.list()), maxStreams)
    },
  }
}

function createSessionState(key: string, callerKey: string): LegacySessionState {
  return {
    key,
    callerKey,
    level: defaultLevel,
    uris: new Map(),
    calls: new Map(),
    waitingReaders: new Map(),
    streams: new Map(),
    listeningStream: undefined,
  }
}

interface DetachedStream {
  readonly stream: ResumableStream
  readonly callerKey: string
}

function collectDetachedStreams(states: Iterable<LegacySessionState>): DetachedStream[] {
  return Array.from(states).flatMap(({ streams, callerKey }) =>
    Array.from(streams.values())
      .filter(({ isDetached }) => isDetached)
      .map((stream) => ({ stream, callerKey })),
  )
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

function isBusy({ calls, streams, listeningStream, waitingReaders }: LegacySessionState): boolean {
  return calls.size > 0 || streams.size > 0 || waitingReaders.size > 0 || listeningStream !== undefined
}
