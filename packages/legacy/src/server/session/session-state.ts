import { isLimitError, type Ledger } from '@x/core'
import type { HttpReply, LoggingLevel, RequestId } from '@x/schema'
import type { ChangeSubscription } from './change-subscription.ts'
import type { LegacySettings } from './options.ts'
import type { Session } from './session.ts'

/** State of a session on one instance: the settings of its client, and the calls that run for it here. */
export interface LegacySessionState {
  readonly key: string
  /** Key of the caller for quotas, as `callerKeyOf` returns it. */
  readonly callerKey: string
  level: LoggingLevel
  /** The resources whose changes its client wants, and the functions that give their counts back. */
  readonly uris: Map<string, () => void>
  /** The calls that can be cancelled, by their ids. */
  readonly calls: Map<RequestId, { cancel(reason?: string): void }>
  /**
   * Readers of streams whose call this instance does not have yet: the `state` of an answer brings the call (SEP-1685).
   */
  readonly waitingReaders: Map<string, WaitingReader>
  /** The streams of calls that can be resumed, by their ids. */
  readonly streams: Map<string, ResumableStream>
  /** The GET stream, of which there is one. */
  listeningStream: { readonly subscription: ChangeSubscription; end(): void } | undefined
}

/** A reader that waits for the call of its stream. */
export interface WaitingReader {
  readonly reply: HttpReply
  readonly lastEventNumber: number
  /** The reader does not wait any more. */
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
   * Returns the state of a session, and makes one when there is none. When there are too many, the caller with the most
   * states loses an idle one.
   */
  getOrCreate(session: Session, callerKey: string): LegacySessionState
  /** Returns the state of a session, undefined when this instance has none. */
  find(session: Pick<Session, 'key'>): LegacySessionState | undefined
  /** Forgets a state without calls, streams and settings. */
  removeIfEmpty(state: LegacySessionState): void
  /** Cancels the calls of a session, ends its streams, and forgets its state. */
  end(session: Pick<Session, 'key'>): void
  /** Applies the log level and the subscriptions that requests to other instances have set. */
  applyStoredSettings(
    state: LegacySessionState,
    storedSettings: { readonly level: LoggingLevel | undefined; readonly uris: readonly string[] },
  ): void
  listStates(): readonly LegacySessionState[]
  /** Adds a URI. Throws `LimitError` when its caller has too many. */
  addUri(uri: string, state: LegacySessionState): void
  removeUri(uri: string, state: LegacySessionState): boolean
  /**
   * Makes room for a stream whose reader has left: beyond the limits the oldest such stream of the caller with the most
   * is abandoned.
   */
  makeRoomForStream(state: LegacySessionState): void
}

const defaultLevel: LoggingLevel = 'info'
/** Broken streams that one instance keeps for their readers, each with at most `maxQueuedBytes` of the transport. */
const maxStreams = 1000
/** Broken streams of one session: more than the calls that a host has running at a time. */
const maxStreamsOfSession = 16

/** A state, and a function that gives its place in the caller's quota back. */
interface StateEntry {
  readonly state: LegacySessionState
  readonly release: () => void
}

/** The states by the keys of their sessions, each counted for its caller. */
function createStateEntries(settings: LegacySettings, ledger: Ledger) {
  const entries = new Map<string, StateEntry>()
  const remove = ({ state, release }: StateEntry): void => {
    entries.delete(state.key)
    for (const releaseUri of state.uris.values()) releaseUri()
    release()
  }
  /**
   * Takes a place in the quota of a caller. When there is none, an idle state of the caller with the most states is
   * removed.
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

/** Starts with no session. */
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
      state.listeningStream?.subscription.update(state.uris.keys())
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

/** Returns the entries of the caller that has the most, in their order, so that other callers lose none. */
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
