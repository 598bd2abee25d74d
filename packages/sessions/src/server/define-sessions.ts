import { errorCodes, type ExtensionView, type JsonValue, McpError, type Principal } from '@x/schema'
import { sessionMethods } from '../session-metadata.ts'
import { runIn, type SessionRun } from './opened-session.ts'
import { type Session, sessionOf } from './session.ts'
import type { SessionEvents, SessionOptions, SessionState } from './session-options.ts'
import { compileRules, type SessionHooks, type SessionRules } from './session-rules.ts'
import { SessionUsageError } from './session-usage-error.ts'
import { noState, readingOf, type StateReading } from './state-reading.ts'

/** Sessions of one kind: how handlers get at theirs. `withSessions` puts them around a server. */
export interface Sessions<State extends JsonValue> {
  /** The session that a handler is called in. Throws the McpError that says that one is needed, when there is none. */
  of(ctx: ExtensionView): Session<State>
  /** The same, or undefined. */
  find(ctx: ExtensionView): Session<State> | undefined
  /** For `visibleTo`: shows a tool, a prompt or a resource within a session alone, and to all others as if it did not exist. */
  only(principal: Principal | undefined, extensions: ExtensionView): boolean
  /** For `visibleTo`: the same, for sessions whose state passes a test. */
  when(test: (session: Session<State>) => boolean): Sessions<State>['only']
  /** Ends a session at every instance, whoever has it. `onDelete` is not told. Throws without a `store`. */
  revoke(id: string): Promise<void>
  /** What `withSessions` works with. */
  readonly rules: SessionRules
}

/**
 * Defines sessions. Nothing is stored: id and state are sealed, bound to the caller and to each other, and travel with the client. With
 * a `store` they can be revoked.
 *
 * @throws SessionUsageError for options that make no sense.
 *
 * @example
 * const sessions = defineSessions({ codec: sealed({ keys }), state: { schema: z.object({ count: z.number() }), initial: { count: 0 } } })
 */
export function defineSessions(
  options: SessionOptions & SessionEvents<null> & { readonly state?: undefined },
): Sessions<null>
export function defineSessions<State extends JsonValue>(
  options: SessionOptions & SessionEvents<State> & { readonly state: SessionState<State> },
): Sessions<State>
export function defineSessions<State extends JsonValue>(
  options: SessionOptions &
    (
      | (SessionEvents<null> & { readonly state?: undefined })
      | (SessionEvents<State> & { readonly state: SessionState<State> })
    ),
): Sessions<State> | Sessions<null> {
  return options.state === undefined ? define(options, noState) : define(options, readingOf(options.state))
}

function define<State extends JsonValue>(
  options: SessionOptions & SessionEvents<State>,
  reading: StateReading<State>,
): Sessions<State> {
  const rules = compileRules(options, eventsOf(options, reading))
  const sessions = new WeakMap<SessionRun, Session<State>>()

  function find(ctx: ExtensionView): Session<State> | undefined {
    const run = runIn(ctx, rules)
    if (run === undefined) return undefined
    const session = sessions.get(run) ?? sessionOf(run, reading)
    sessions.set(run, session)
    return session
  }

  return {
    of: (ctx) => find(ctx) ?? refuse(),
    find,
    only: (_principal, extensions) => runIn(extensions, rules) !== undefined,
    when: (test) => (_principal, extensions) => {
      const session = find(extensions)
      return session !== undefined && test(session)
    },
    async revoke(id) {
      if (rules.store === undefined) {
        throw new SessionUsageError('revoke() needs a store that all instances share: give defineSessions one')
      }
      await rules.ledger.end(id, rules.ttlMs)
    },
    rules,
  }
}

function eventsOf<State extends JsonValue>(
  { onCreate, onDelete }: SessionEvents<State>,
  reading: StateReading<State>,
): SessionHooks {
  return {
    begin: async (session) => {
      const state = (await onCreate?.(session)) ?? undefined
      return state === undefined ? undefined : reading.check(state)
    },
    end: async ({ state, ...session }, report) => onDelete?.({ ...session, state: reading.read(state, report) }),
  }
}

function refuse(): never {
  const message = `This needs a session: create one with ${sessionMethods.create}, and name it in _meta`
  throw new McpError(errorCodes.invalidParams, message, { data: { reason: 'session' } })
}
