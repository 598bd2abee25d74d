import type { LoggingLevel, RequestId } from '@x/schema'
import type { ChangeSubscription } from './change-subscription.ts'
import type { LegacySettings } from './options.ts'
import type { Session } from './session.ts'

/** State of a session on one instance: the settings of its client, and the calls that run for it here. */
export interface LegacySessionState {
  readonly key: string
  /** Key of the caller for quotas. */
  readonly callerKey: string
  level: LoggingLevel
  readonly uris: Set<string>
  /** The calls that can be cancelled, by their ids. */
  readonly calls: Map<RequestId, { cancel(): void }>
  /** The streams of calls that can be resumed, by their ids. */
  readonly streams: Map<string, ResumableStream>
  /** The GET stream, of which there is one. */
  listeningStream: { readonly subscription: ChangeSubscription; end(): void } | undefined
}

/** A stream that a client can come back to. */
export interface ResumableStream {
  readonly id: string
  readonly isDetached: boolean
  /** Ends the stream and its call without an answer. */
  abandon(): void
}

/** The states of the sessions that this instance knows. */
export interface SessionStates {
  /**
   * The state of a session, which is made when there is none. Where there are too many, the caller with the most loses
   * one.
   */
  getOrCreate(session: Session, callerKey: string): LegacySessionState
  /** The state of a session, if there is one here. */
  find(session: Pick<Session, 'key'>): LegacySessionState | undefined
  /** Forgets a state that holds nothing. */
  removeIfEmpty(state: LegacySessionState): void
  /** Ends everything of a session. */
  end(session: Pick<Session, 'key'>): void
  /** Sets what requests to other instances have set. */
  applyStoredSettings(
    state: LegacySessionState,
    storedSettings: { readonly level: LoggingLevel | undefined; readonly uris: readonly string[] },
  ): void
  listStates(): Iterable<LegacySessionState>
  /** Makes room for one more URI; false when there is none. */
  makeRoomForUri(uri: string, state: LegacySessionState): boolean
  /**
   * Makes room for a stream whose reader has gone: beyond the limits the oldest such stream of the caller with the most
   * is abandoned.
   */
  makeRoomForStream(state: LegacySessionState): void
}

const maxStates = 10_000
const maxUrisPerSession = 1000
const maxUriLength = 2048
const maxUris = 20_000
const maxUrisOfCaller = 2000
const defaultLevel: LoggingLevel = 'info'

/** Starts with no session. */
export function createSessionStates(settings: LegacySettings): SessionStates {
  const states = new Map<string, LegacySessionState>()
  const evictOldestState = (): void => {
    const [oldestState] = entriesOfLargestCaller(Array.from(states.values()).filter((state) => !isBusy(state)))
    if (oldestState === undefined) return
    states.delete(oldestState.key)
    const message = 'More sessions than are remembered have set a log level or subscriptions: the oldest were forgotten'
    settings.warn({ code: 'limit', message })
  }
  const abandonOldestStream = (streams: readonly DetachedStream[], maxCount: number): void => {
    if (streams.length <= maxCount) return
    entriesOfLargestCaller(streams)[0]?.stream.abandon()
    settings.warn({
      code: 'limit',
      message: `More than ${maxCount} broken streams wait for their readers: one was ended`,
    })
  }

  return {
    getOrCreate(session, callerKey) {
      const knownState = states.get(session.key)
      if (knownState !== undefined) return knownState
      if (states.size >= maxStates) evictOldestState()
      const state = createSessionState(session.key, callerKey)
      states.set(state.key, state)
      return state
    },
    find: ({ key }) => states.get(key),
    removeIfEmpty(state) {
      if (states.get(state.key) !== state || isBusy(state)) return
      if (state.uris.size === 0 && state.level === defaultLevel) states.delete(state.key)
    },
    end({ key }) {
      const state = states.get(key)
      if (state === undefined) return
      states.delete(key)
      state.listeningStream?.end()
      for (const call of state.calls.values()) call.cancel()
      for (const stream of state.streams.values()) stream.abandon()
    },
    applyStoredSettings: applySettings,
    listStates: () => states.values(),
    makeRoomForUri(uri, state) {
      if (state.uris.has(uri)) return true
      if (uri.length > maxUriLength || state.uris.size >= maxUrisPerSession) return false
      return isBelowUriLimits(states.values(), state.callerKey)
    },
    makeRoomForStream(state) {
      abandonOldestStream(collectDetachedStreams([state]), settings.maxStreamsOfSession)
      abandonOldestStream(collectDetachedStreams(states.values()), settings.maxStreams)
    },
  }
}

function createSessionState(key: string, callerKey: string): LegacySessionState {
  return {
    key,
    callerKey,
    level: defaultLevel,
    uris: new Set(),
    calls: new Map(),
    streams: new Map(),
    listeningStream: undefined,
  }
}

const applySettings: SessionStates['applyStoredSettings'] = (state, { level, uris }) => {
  state.level = level ?? defaultLevel
  state.uris.clear()
  for (const uri of uris) state.uris.add(uri)
  state.listeningStream?.subscription.update(state.uris)
}

function isBelowUriLimits(states: Iterable<LegacySessionState>, callerKey: string): boolean {
  let [totalCount, callerCount] = [0, 0]
  for (const state of states) {
    totalCount += state.uris.size
    if (state.callerKey === callerKey) callerCount += state.uris.size
  }
  return totalCount < maxUris && callerCount < maxUrisOfCaller
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

/** Returns the entries of the caller who has the most, in their order: nobody loses one to a caller who takes many. */
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

function isBusy({ calls, streams, listeningStream }: LegacySessionState): boolean {
  return calls.size > 0 || streams.size > 0 || listeningStream !== undefined
}
