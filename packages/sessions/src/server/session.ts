import { storeOfOwner } from '@x/core'
import { toStoreKey } from './session-registry.ts'
import type { OpenedSession, SessionRun } from './opened-session.ts'
import { SessionError } from '../session-error.ts'
import { toQuotaError } from './session-errors.ts'
import type { StateParser } from './state-parser.ts'

/** A session as one call sees it. */
export interface SessionView<State> {
  readonly id: string
  /** When the session ends, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Quotas count the caller by this key. Undefined in a task. */
  readonly callerKey: string | undefined
  /** How often the state was replaced before this call. Overlapping calls may have the same revision. */
  readonly revision: number
  /** State in the request, or what this run of the handler has set. */
  readonly state: State
}

/**
 * A session within a handler. A new state is kept only if the call ends with a complete result; if the handler ran
 * several times, the state of its last run is kept. A call that fails or asks for input leaves the session unchanged.
 */
export interface Session<State> extends SessionView<State> {
  /**
   * Replaces the state. If calls overlap, the state in the last response that reaches the client counts. Throws if the
   * schema rejects the state.
   */
  setState(next: State): void
  /**
   * Claims the right to replace the state. Of all calls with the same revision, only one gets true, so a client that
   * sends an older state again is detected; without claims, every earlier state of the session is accepted. Requires
   * the option `store`. A call that fails or becomes a task releases its claim, which otherwise lasts for `ttlMs`
   * (default: 10 minutes). A handler that also asks the user must claim in a `ctx.step`; a claim from before the
   * question is not released.
   */
  claim(options?: { readonly ttlMs?: number | undefined }): Promise<boolean>
}

const defaultClaimTtlMs = 600_000

export function getSessionView<State>(session: OpenedSession, parser: StateParser<State>): SessionView<State> {
  // The cast is safe: the view was created with this parser.
  return session.getOrCreateView(() => createSessionView(session, parser)) as SessionView<State>
}

function createSessionView<State>(session: OpenedSession, parser: StateParser<State>): SessionView<State> {
  const { expiresAt, revision, callerKey } = session
  const state = parser.parse(session.state, session.report)
  return {
    get id() {
      return requireSessionId(session)
    },
    expiresAt,
    callerKey: callerKey === '' ? undefined : callerKey,
    revision,
    state,
  }
}

/**
 * A class, because getters in an object literal would be new functions in each object, for which V8 would create a
 * hidden class each.
 */
class RunSession<State> implements Session<State> {
  readonly expiresAt: number
  readonly callerKey: string | undefined
  readonly revision: number
  readonly #run: SessionRun
  readonly #parser: StateParser<State>
  #state: State

  constructor(run: SessionRun, parser: StateParser<State>) {
    const { state, report, expiresAt, revision, callerKey } = run.session
    this.expiresAt = expiresAt
    this.callerKey = callerKey === '' ? undefined : callerKey
    this.revision = revision
    this.#run = run
    this.#parser = parser
    this.#state = parser.parse(state, report)
  }

  get id(): string {
    return requireSessionId(this.#run.session)
  }

  get state(): State {
    return this.#state
  }

  setState(next: State): void {
    this.#run.session.rejectIfEnded('setState')
    this.#state = this.#parser.validate(next)
    this.#run.setDraft(this.#parser.serialize(this.#state))
  }

  async claim({ ttlMs = defaultClaimTtlMs }: { readonly ttlMs?: number | undefined } = {}): Promise<boolean> {
    const { session } = this.#run
    const { store } = session.sessionOptions
    if (store === undefined) {
      throw new SessionError('usage', 'claim() needs a store that all instances share: give sessions() one')
    }
    session.rejectIfEnded('claim')
    const key = await toStoreKey('session-claim', `${session.revision} ${session.id}`)
    return session.claim(key, async (value) => {
      try {
        return await storeOfOwner(store, session.callerKey).add(key, value, ttlMs)
      } catch (error) {
        throw toQuotaError(error) ?? error
      }
    })
  }
}

export function getRunSession<State>(run: SessionRun, parser: StateParser<State>): Session<State> {
  // The cast is safe: the session was created with this parser.
  return run.getOrCreateHandlerSession(() => new RunSession(run, parser)) as Session<State>
}

function requireSessionId({ id }: OpenedSession): string {
  if (id !== '') return id
  throw new SessionError('usage', 'A task keeps the id of its session sealed alone: give tasks() `state`')
}
