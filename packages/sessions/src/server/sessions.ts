import { type MustBeJson, type OptionTable, type ResolvedOptions, resolveOptions } from '@x/core'
import type { Principal, ServerExtension } from '@x/exchange'
import { errorCodes, McpError } from '@x/schema'
import { sessionMethods, sessionsIdentifier } from '../session-metadata.ts'
import { type CallView, findOpenedSession, type OpenedSession, recordStart } from './opened-session.ts'
import { serveSessions } from './serve-sessions.ts'
import { getRunSession, type Session, type SessionView, getSessionView } from './session.ts'
import type { SessionEvents, SessionOptions, SessionState } from './session-options.ts'
import {
  checkCodecLifetime,
  type ResolvedSessionOptions,
  resolveSessionOptions,
  type SessionDefinition,
} from './resolved-session-options.ts'
import { SessionError } from '../session-error.ts'
import { statelessParser, createStateParser, type StateParser } from './state-parser.ts'

/** What `server.sessions` can do. */
export interface SessionsApi {
  /**
   * Ends a session: with a `store` at every instance at once, and with only a bus at each instance that receives the
   * message and remembers fewer than 10,000 ended sessions. Elsewhere it ends when it expires. Does not call
   * `onDelete`. Rejects if there is neither a `store` nor a bus of the server.
   */
  revoke(id: string): Promise<void>
}

/** Sessions of a server: the extension for `createServer`, with functions that its handlers call. */
export interface Sessions<State> extends ServerExtension<'sessions', SessionsApi> {
  /** The session of a call. If it has none, throws an `McpError` that explains how to create one. */
  of(ctx: CallView): Session<State>
  /** The session of a call, or undefined. */
  find(ctx: CallView): Session<State> | undefined
  /**
   * True if a call has a session. As `visibleTo` of a tool, prompt or resource, it hides the definition from calls
   * without a session.
   */
  isInSession(principal: Principal | undefined, call: CallView): boolean
  /** Makes a `visibleTo` that shows a tool, prompt or resource only to calls whose session passes a test. */
  when(test: (session: SessionView<State>) => boolean): (principal: Principal | undefined, call: CallView) => boolean
}

/** The options of sessions without state. */
export type StatelessSessionsOptions = SessionOptions & SessionEvents<null> & { readonly state?: undefined }

/** The options of sessions whose handlers keep a state. */
export type StatefulSessionsOptions<State> = SessionOptions &
  SessionEvents<State> & { readonly state: SessionState<State> & MustBeJson<State> }

/**
 * Adds sessions to a server (seed data-layer-sessions). Without a `store` the server stores nothing: it seals the id
 * and the state of a session with its option `state`, binds them to the principal and to each other, and sends them to
 * the client, which returns them with each request. A client can neither read nor change a state, and cannot omit it.
 * It can send an older state of the same session again, which only `claim()` of {@link Session} detects. Sessions can
 * be revoked if there is a `store`, or a bus of the server.
 *
 * @throws RangeError for an invalid `ttlMs`. `createServer` throws it for a `ttlMs` above the lifetime of the tokens of
 *   its `state`.
 * @throws SessionError with the code `usage` for an initial state that the schema rejects.
 *
 * @example
 * const trips = sessions({ state: { schema: z.object({ city: z.string() }), initial: { city: 'Oslo' } } })
 * const state = sealedState({ keys })
 * const server = createServer({ name: 'demo', version: '1.0.0', state, tools: [book], extensions: [trips] })
 */
export function sessions(options?: StatelessSessionsOptions): Sessions<null>
export function sessions<State>(options: StatefulSessionsOptions<State>): Sessions<State>
export function sessions<State>(
  options: StatelessSessionsOptions | StatefulSessionsOptions<State> = {},
): Sessions<State> | Sessions<null> {
  const resolved = resolveOptions<SessionOptions, typeof sessionOptionTable>(options, sessionOptionTable, 'sessions')
  return hasState(options)
    ? defineSessions({ ...options, ...resolved }, createStateParser(options.state))
    : defineSessions({ ...options, ...resolved }, statelessParser)
}

const sessionOptionTable = {
  store: undefined,
  // A conversation can continue the next morning.
  // limit: ms | the life of a session | session not found
  ttlMs: 86_400_000,
  onCreate: undefined,
  onDelete: undefined,
  state: undefined,
} satisfies OptionTable<StatefulSessionsOptions<unknown>>

function hasState<State>(
  options: StatelessSessionsOptions | StatefulSessionsOptions<State>,
): options is StatefulSessionsOptions<State> {
  return options.state !== undefined
}

type DefinedOptions<State> = ResolvedOptions<SessionOptions, typeof sessionOptionTable> &
  SessionEvents<State> & { readonly state?: SessionState<State> | undefined }

function defineSessions<State>(options: DefinedOptions<State>, parser: StateParser<State>): Sessions<State> {
  const definition = createDefinition(options, parser)
  const findCallSession = (call: CallView): OpenedSession | undefined => findOpenedSession(call, definition)
  const find = (ctx: CallView): Session<State> | undefined => {
    const openedSession = findCallSession(ctx)
    return openedSession && getRunSession(openedSession.getOrCreateRun(ctx), parser)
  }
  return {
    extends: 'server',
    name: 'sessions',
    identifier: sessionsIdentifier,
    // seed data-layer-sessions, capabilities: the draft defines the member `sessions`.
    serverCapabilities: { sessions: {} },
    start: (host) => {
      const sessionOptions = resolveSessionOptions(definition, host)
      recordStart(definition, sessionOptions)
      return {
        api: { revoke: (id) => revokeSession(sessionOptions, id) },
        ...(host.state === undefined && { singleProcess: singleProcessMessage }),
        ...serveSessions(sessionOptions),
        // The server pings its own codec, so only the store and the codec of the sessions are pinged here.
        ready: async () => {
          await Promise.all([definition.store?.get('ping'), definition.stateCodec?.ping?.()])
          return true
        },
        close: () => sessionOptions.registry.close(),
      }
    },
    of: (ctx) => find(ctx) ?? rejectMissingSession(),
    find,
    isInSession: (_principal, call) => findCallSession(call) !== undefined,
    when: (test) => (_principal, call) => {
      const openedSession = findCallSession(call)
      return openedSession !== undefined && test(getSessionView(openedSession, parser))
    },
  }
}

const singleProcessMessage =
  'sessions() seals sessions with a random key of this process: give the server a `state`, with the same keys at every instance'

async function revokeSession({ canRevoke, registry, ttlMs }: ResolvedSessionOptions, id: string): Promise<void> {
  if (!canRevoke) {
    throw new SessionError(
      'usage',
      'revoke() needs a store or a bus that all instances share: give sessions() a `store`, or createServer a bus',
    )
  }
  await registry.end(id, ttlMs)
}

function createDefinition<State>(
  { store, ttlMs, state: stateOptions, onCreate, onDelete }: DefinedOptions<State>,
  parser: StateParser<State>,
): SessionDefinition {
  const stateCodec = stateOptions?.codec
  if (stateCodec !== undefined) checkCodecLifetime('state.codec', stateCodec, ttlMs)
  return {
    store,
    ttlMs,
    stateCodec,
    hasState: parser.initial !== undefined,
    begin: async (session) => {
      const state = (await onCreate?.(session)) ?? undefined
      return () => {
        const firstState = state === undefined ? parser.initial : parser.validate(state)
        return firstState === undefined ? undefined : parser.serialize(firstState)
      }
    },
    end: async ({ state, ...session }, report) =>
      onDelete?.({ ...session, state: state === undefined ? undefined : parser.parse(state, report) }),
  }
}

function rejectMissingSession(): never {
  const message = `This needs a session: create one with ${sessionMethods.create}, and name it in _meta`
  throw new McpError(errorCodes.invalidParams, message, { data: { reason: 'session' } })
}
