import { toStoreKey } from './session-registry.ts'
import type { OpenedSession, SessionRun } from './opened-session.ts'
import { quotaErrorOf, SessionUsageError } from './session-errors.ts'
import type { StateParser } from './state-parser.ts'

/** A session as a call brought it. */
export interface SessionView<State> {
  readonly id: string
  /** The end of the session, in milliseconds since 1970. */
  readonly expiresAt: number
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
   * Claims the right to replace the state; resolves with true for one of all calls that brought the same revision, so
   * that an older state which is sent again is detected. Without it, every earlier state of the session is accepted.
   * Needs the `store`. A call that fails releases its claim; otherwise it holds for `ttlMs` (10 minutes when absent).
   * In a handler that also asks, claim within a `ctx.step`.
   */
  claim(options?: { readonly ttlMs?: number | undefined }): Promise<boolean>
}

const tenMinutesMs = 600_000

/** Makes a view of a session that was opened. */
export function createSessionView<State>(session: OpenedSession, parser: StateParser<State>): SessionView<State> {
  const { expiresAt, revision } = session
  const state = parser.parse(session.value, session.report)
  return {
    get id() {
      return idOf(session)
    },
    expiresAt,
    revision,
    state,
  }
}

/** Makes the session of one run. */
export function sessionOf<State>(run: SessionRun, parser: StateParser<State>): Session<State> {
  const { session } = run
  const { expiresAt, revision } = session
  let state = parser.parse(session.value, session.report)
  return {
    get id() {
      return idOf(session)
    },
    expiresAt,
    revision,
    get state() {
      return state
    },
    setState(next) {
      rejectEndedCall(session, 'setState')
      state = parser.check(next)
      run.draft = { value: parser.serialize(state) }
    },
    claim: async ({ ttlMs = tenMinutesMs } = {}) => claimRevision(session, ttlMs),
  }
}

async function claimRevision(session: OpenedSession, ttlMs: number): Promise<boolean> {
  const { store } = session.sessionOptions
  if (store === undefined) {
    throw new SessionUsageError('claim() needs a store that all instances share: give sessions() one')
  }
  rejectEndedCall(session, 'claim')
  if (session.claim !== undefined) return true
  const key = await toStoreKey('session-claim', `${session.revision} ${session.id}`)
  if (!(await addClaim(key, ttlMs, session))) return false
  session.claim = key
  return true
}

async function addClaim(
  key: string,
  ttlMs: number,
  { sessionOptions: { store }, caller }: OpenedSession,
): Promise<boolean> {
  try {
    return (await (store?.ownedBy?.(caller) ?? store)?.add(key, '1', ttlMs)) === true
  } catch (error) {
    throw quotaErrorOf(error) ?? error
  }
}

function idOf({ id }: OpenedSession): string {
  if (id !== '') return id
  throw new SessionUsageError('A task keeps the id of its session sealed alone: give tasks() `credentials`')
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
