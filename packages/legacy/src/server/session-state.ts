import type { LoggingLevel, RequestId } from '@x/schema'
import type { Listening } from './listening.ts'
import type { LegacySettings } from './options.ts'
import type { Session } from './session.ts'

/** State of a session on one instance: the settings of its client, and the calls that run for it here. */
export interface SessionState {
  readonly key: string
  level: LoggingLevel
  readonly uris: Set<string>
  /** The calls that can be cancelled, by their ids. */
  readonly calls: Map<RequestId, { cancel(): void }>
  /** The streams of calls that can be resumed, by their ids. */
  readonly streams: Map<string, ResumableStream>
  /** The GET stream, of which there is one. */
  listening: { readonly listening: Listening; end(): void } | undefined
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
  of(session: Session): SessionState
  /** The state of a session, if there is one here. */
  find(session: Pick<Session, 'key'>): SessionState | undefined
  /** Forgets a state that holds nothing. */
  removeExpired(state: SessionState): void
  /** Ends everything of a session. */
  end(session: Pick<Session, 'key'>): void
  /** Sets what requests to other instances have set. */
  apply(
    state: SessionState,
    stored: { readonly level: LoggingLevel | undefined; readonly uris: readonly string[] },
  ): void
  all(): Iterable<SessionState>
  /** Makes room for one more URI; false when there is none. */
  hasRoomFor(uri: string, state: SessionState): boolean
  /** Makes room for a stream whose reader has gone: beyond the limits the oldest such stream is abandoned. */
  makeRoom(state: SessionState): void
}

const maxStates = 10_000
const maxUrisOfSession = 1000
const maxUriLength = 2048
const maxUris = 20_000
const defaultLevel: LoggingLevel = 'info'

/** Starts with no session. */
export function createSessionStates(settings: LegacySettings): SessionStates {
  const states = new Map<string, SessionState>()
  const evict = (): void => {
    for (const state of states.values()) {
      if (isBusy(state)) continue
      states.delete(state.key)
      const message =
        'More sessions than are remembered have set a log level or subscriptions: the oldest were forgotten'
      return settings.warn({ code: 'limit', message })
    }
  }
  const abandonOldest = (streams: readonly ResumableStream[], most: number): void => {
    if (streams.length <= most) return
    streams[0]?.abandon()
    settings.warn({ code: 'limit', message: `More than ${most} broken streams wait for their readers: one was ended` })
  }

  return {
    of(session) {
      const known = states.get(session.key)
      if (known !== undefined) return known
      if (states.size >= maxStates) evict()
      const state = newState(session.key)
      states.set(state.key, state)
      return state
    },
    find: ({ key }) => states.get(key),
    removeExpired(state) {
      if (states.get(state.key) !== state || isBusy(state)) return
      if (state.uris.size === 0 && state.level === defaultLevel) states.delete(state.key)
    },
    end({ key }) {
      const state = states.get(key)
      if (state === undefined) return
      states.delete(key)
      state.listening?.end()
      for (const call of state.calls.values()) call.cancel()
      for (const stream of state.streams.values()) stream.abandon()
    },
    apply: applySettings,
    all: () => states.values(),
    hasRoomFor(uri, state) {
      if (state.uris.has(uri)) return true
      if (uri.length > maxUriLength || state.uris.size >= maxUrisOfSession) return false
      let all = 0
      for (const { uris } of states.values()) all += uris.size
      return all < maxUris
    },
    makeRoom(state) {
      abandonOldest(detached([state]), settings.maxStreamsOfSession)
      abandonOldest(detached(states.values()), settings.maxStreams)
    },
  }
}

function newState(key: string): SessionState {
  return { key, level: defaultLevel, uris: new Set(), calls: new Map(), streams: new Map(), listening: undefined }
}

const applySettings: SessionStates['apply'] = (state, { level, uris }) => {
  state.level = level ?? defaultLevel
  state.uris.clear()
  for (const uri of uris) state.uris.add(uri)
  state.listening?.listening.update(state.uris)
}

function detached(states: Iterable<SessionState>): ResumableStream[] {
  return Array.from(states).flatMap(({ streams }) =>
    Array.from(streams.values()).filter(({ isDetached }) => isDetached),
  )
}

function isBusy({ calls, streams, listening }: SessionState): boolean {
  return calls.size > 0 || streams.size > 0 || listening !== undefined
}
