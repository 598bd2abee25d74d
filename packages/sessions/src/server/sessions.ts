import { checkOptions } from '@x/core'
import { errorCodes, McpError, type MustBeJson, type Principal, type ServerExtension } from '@x/schema'
import { type SessionNames, createSessionNames } from '../session-metadata.ts'
import {
  type CallView,
  findOpenedSession,
  createOpenedSessionKey,
  type OpenedSession,
  getOrCreateRun,
} from './opened-session.ts'
import { serveSessions } from './serve-sessions.ts'
import { getRunSession, type Session, type SessionView, getSessionView } from './session.ts'
import type { SessionEvents, SessionOptions, SessionState } from './session-options.ts'
import { resolveSessionOptions, type SessionHooks, type ResolvedSessionOptions } from './resolved-session-options.ts'
import { SessionUsageError } from './session-errors.ts'
import { statelessParser, createStateParser, type StateParser } from './state-parser.ts'

/** The member that sessions add to their server. */
export interface SessionsApi {
  /**
   * Ends a session at every instance, whichever client has it. Does not call `onDelete`. Rejects without a `store` or a
   * `bus`.
   */
  revoke(id: string): Promise<void>
}

/** Sessions of one kind: an extension for `createServer`, and the accessors for its handlers. */
export interface Sessions<State, Name extends string = 'sessions'>
  extends ServerExtension<Name, SessionsApi>,
    SessionsApi {
  /**
   * Returns the session of a handler's call. Throws an `McpError` that says how to create one when the call has none.
   */
  of(ctx: CallView): Session<State>
  /** Returns the session of a handler's call, or undefined. */
  find(ctx: CallView): Session<State> | undefined
  /**
   * For `visibleTo`: shows a tool, a prompt or a resource within a session alone. For other calls it does not exist.
   */
  isInSession(principal: Principal | undefined, call: CallView): boolean
  /** For `visibleTo`: the same, for sessions that pass a test. */
  when(test: (session: SessionView<State>) => boolean): (principal: Principal | undefined, call: CallView) => boolean
}

/** The options of sessions without state. */
export type StatelessSessionsOptions<Name extends string = 'sessions'> = SessionOptions<Name> &
  SessionEvents<null> & { readonly state?: undefined }

/** The options of sessions whose handlers keep a state. */
export type StatefulSessionsOptions<State, Name extends string = 'sessions'> = SessionOptions<Name> &
  SessionEvents<State> & { readonly state: SessionState<State> & MustBeJson<State> }

/**
 * Makes the sessions extension of a server (seed data-layer-sessions). Nothing is stored: id and state are sealed,
 * bound to the principal and to each other, and travel with the client. With a `store` they can be revoked. A client
 * can neither read nor alter nor omit a state. It can send an older state of the same session again, which only
 * `claim()` of {@link Session} rejects.
 *
 * @throws SessionUsageError for options that contradict each other. TypeError for an invalid `name`.
 *
 * @example
 * const trips = sessions({
 *   codec: sealedState({ keys }),
 *   state: { schema: z.object({ city: z.string() }), initial: { city: 'Oslo' } },
 * })
 * const server = createServer({ name: 'demo', version: '1.0.0', tools: [book], extensions: [trips] })
 */
export function sessions<const Name extends string = 'sessions'>(
  options: StatelessSessionsOptions<Name>,
): Sessions<null, NoInfer<Name>>
export function sessions<State, const Name extends string = 'sessions'>(
  options: StatefulSessionsOptions<State, Name>,
): Sessions<State, NoInfer<Name>>
export function sessions<State, Name extends string>(
  options: StatelessSessionsOptions<Name> | StatefulSessionsOptions<State, Name>,
): Sessions<State, Name> | Sessions<null, Name> {
  checkOptions(options, sessionOptionNames, 'sessions')
  return hasState(options)
    ? defineSessions(options, createStateParser(options.state))
    : defineSessions(options, statelessParser)
}

const sessionOptionNames = {
  name: true,
  codec: true,
  stateCodec: true,
  store: true,
  bus: true,
  ttlMs: true,
  onError: true,
  runtime: true,
  onCreate: true,
  onDelete: true,
  state: true,
} satisfies Record<keyof StatefulSessionsOptions<unknown>, true>

function hasState<State, Name extends string>(
  options: StatelessSessionsOptions<Name> | StatefulSessionsOptions<State, Name>,
): options is StatefulSessionsOptions<State, Name> {
  return options.state !== undefined
}

function defineSessions<State, Name extends string>(
  options: SessionOptions<Name> & SessionEvents<State>,
  parser: StateParser<State>,
): Sessions<State, Name> {
  const names = createSessionNames(options.name ?? 'sessions')
  const sessionOptions = resolveSessionOptions(options, createHooks(options, parser))
  const revoke = (id: string): Promise<void> => revokeSession(sessionOptions, id)
  return {
    ...createExtension<Name>(names, sessionOptions, revoke),
    ...createAccessors(names, sessionOptions, parser),
    revoke,
  }
}

function createExtension<Name extends string>(
  names: SessionNames,
  sessionOptions: ResolvedSessionOptions,
  revoke: SessionsApi['revoke'],
): ServerExtension<Name, SessionsApi> {
  return {
    side: 'server',
    // The option's own value, or the default of both the option and its type.
    name: names.name as Name,
    identifier: names.identifier,
    // seed data-layer-sessions, capabilities: the draft has a member of its own. Further kinds are ordinary extensions.
    ...(names.isStandard ? { serverCapabilities: { sessions: {} } } : { capabilities: {} }),
    start: (host) => ({
      api: { revoke },
      ...serveSessions({ names, sessionOptions, host }),
      ready: () => pingStores(sessionOptions),
      close: () => sessionOptions.registry.close(),
    }),
  }
}

/** A key that no session has. */
const pingKey = 'ping'

async function pingStores({ store, codec, stateCodec }: ResolvedSessionOptions): Promise<boolean> {
  await Promise.all([store?.get(pingKey), codec.ping?.(), stateCodec.ping?.()])
  return true
}

function createAccessors<State>(
  { name, methods }: SessionNames,
  sessionOptions: ResolvedSessionOptions,
  parser: StateParser<State>,
): Pick<Sessions<State>, 'of' | 'find' | 'isInSession' | 'when'> {
  const key = createOpenedSessionKey(name)
  const findCallSession = (call: CallView): OpenedSession | undefined =>
    findOpenedSession(call, key, { name, sessionOptions })

  function findSession(ctx: CallView): Session<State> | undefined {
    const openedSession = findCallSession(ctx)
    return openedSession && getRunSession(getOrCreateRun(openedSession, ctx), parser)
  }

  return {
    of: (ctx) => findSession(ctx) ?? rejectMissingSession(methods.create),
    find: findSession,
    isInSession: (_principal, call) => findCallSession(call) !== undefined,
    when: (test) => (_principal, call) => {
      const openedSession = findCallSession(call)
      return openedSession !== undefined && test(getSessionView(openedSession, parser))
    },
  }
}

async function revokeSession({ canRevoke, registry, ttlMs }: ResolvedSessionOptions, id: string): Promise<void> {
  if (!canRevoke) {
    throw new SessionUsageError('revoke() needs a store or a bus that all instances share: give sessions() one')
  }
  await registry.end(id, ttlMs)
}

function createHooks<State>({ onCreate, onDelete }: SessionEvents<State>, parser: StateParser<State>): SessionHooks {
  return {
    hasState: parser.initial !== undefined,
    begin: async (session) => {
      const state = (await onCreate?.(session)) ?? undefined
      const initialState = state === undefined ? parser.initial : parser.validate(state)
      return initialState === undefined ? undefined : parser.serialize(initialState)
    },
    end: async ({ state, ...session }, report) =>
      onDelete?.({ ...session, state: state === undefined ? undefined : parser.parse(state, report) }),
  }
}

function rejectMissingSession(createMethod: string): never {
  const message = `This needs a session: create one with ${createMethod}, and name it in _meta`
  throw new McpError(errorCodes.invalidParams, message, { data: { reason: 'session' } })
}
