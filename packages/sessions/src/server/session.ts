import { toStoreKey } from './session-registry.ts'
import type { OpenedSession, SessionRun } from './opened-session.ts'
import { toQuotaError, SessionUsageError } from './session-errors.ts'
import type { StateParser } from './state-parser.ts'

/** A session as a call named it. */
export interface SessionView<State> {
  readonly id: string
  /** The end of the session, in milliseconds since 1970. */
  readonly expiresAt: number
  /** The key by which quotas count the caller, undefined in a task. */
  readonly callerKey: string | undefined
  /** The number of times that the state was replaced before this call. Overlapping calls may have the same. */
  readonly revision: number
  /** The state that the call brought, or that this run has set. */
  readonly state: State
}

/**
 * A session within a handler. Its new state is kept when the call ends with a complete result, and then the state that
 * the last run has set counts. A call that fails or asks for input leaves the session unchanged.
 */
export interface Session<State> extends SessionView<State> {
  /**
   * Replaces the state. Of overlapping calls, the last answer that reaches the client wins. Throws for a state that the
   * schema rejects.
   */
  setState(next: State): void
  /**
   * Claims the right to replace the state. Resolves with true for one of all calls that brought the same revision, so
   * that an older state which is sent again is detected. Without a claim, every earlier state of the session is
   * accepted. Needs the `store`. A call that fails releases its claim. Otherwise the claim holds for `ttlMs` (10
   * minutes when absent).
   * In a handler that also asks, claim within a `ctx.step`.
   */
  claim(options?: { readonly ttlMs?: number | undefined }): Promise<boolean>
}

const defaultClaimTtlMs = 600_000

/** Returns the view of a session that was opened, which is made once. */
export function getSessionView<State>(session: OpenedSession, parser: StateParser<State>): SessionView<State> {
  session.sessionView ??= createSessionView(session, parser)
  // The parser is that of the options which the session was opened with, so that it made the view.
  return session.sessionView as SessionView<State>
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
 * The session of one run. Its getters are members of a class. In an object literal they would be new functions in each
 * session, and V8 creates a hidden class for each of those.
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
    rejectEndedCall(this.#run.session, 'setState')
    this.#state = this.#parser.validate(next)
    this.#run.draft = { value: this.#parser.serialize(this.#state) }
  }

  async claim({ ttlMs = defaultClaimTtlMs }: { readonly ttlMs?: number | undefined } = {}): Promise<boolean> {
    return claimRevision(this.#run.session, ttlMs)
  }
}

/** Returns the session of one run, which is made once. */
export function getRunSession<State>(run: SessionRun, parser: StateParser<State>): Session<State> {
  run.handlerSession ??= new RunSession(run, parser)
  // The parser is that of the options which the session was opened with, so that it made the run's session.
  return run.handlerSession as Session<State>
}

async function claimRevision(session: OpenedSession, ttlMs: number): Promise<boolean> {
  const { store } = session.sessionOptions
  if (store === undefined) {
    throw new SessionUsageError('claim() needs a store that all instances share: give sessions() one')
  }
  rejectEndedCall(session, 'claim')
  if (session.claimKey !== undefined) return true
  const key = await toStoreKey('session-claim', `${session.revision} ${session.id}`)
  if (!(await addClaim(key, ttlMs, session))) return false
  session.claimKey = key
  return true
}

async function addClaim(
  key: string,
  ttlMs: number,
  { sessionOptions: { store }, callerKey }: OpenedSession,
): Promise<boolean> {
  try {
    return (await (store?.forOwner?.(callerKey) ?? store)?.add(key, '1', ttlMs)) === true
  } catch (error) {
    throw toQuotaError(error) ?? error
  }
}

function requireSessionId({ id }: OpenedSession): string {
  if (id !== '') return id
  throw new SessionUsageError('A task keeps the id of its session sealed alone: give tasks() `state`')
}

function rejectEndedCall({ isOpen, isRecorded }: OpenedSession, methodName: string): void {
  if (isOpen) return
  if (isRecorded === true) {
    const advice = 'a task has its session as it was at its creation, and no answer that could change it'
    throw new SessionUsageError(`${methodName} was called in a task: ${advice}`)
  }
  throw new SessionUsageError(
    `${methodName} was called after the call had ended: await everything that the handler starts`,
  )
}
