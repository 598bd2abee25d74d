import type { JsonValue } from '@x/schema'
import { storeKey } from './ledger.ts'
import type { OpenedSession, SessionRun } from './opened-session.ts'
import { SessionUsageError } from './session-usage-error.ts'
import type { StateReading } from './state-reading.ts'

/**
 * A session as a handler has it. What a run of the handler sets is kept when the call ends with a complete result, and then the last
 * run counts: a call that fails or asks leaves the session as it was.
 */
export interface Session<State extends JsonValue> {
  readonly id: string
  /** When the session ends, in milliseconds since 1970. */
  readonly expiresAt: number
  /** How often the state was replaced before this call. Of calls that overlap, several may have the same. */
  readonly revision: number
  /** The state as the call came with it, or as this run has set it. */
  readonly state: State
  /** Replaces the state. Of calls that overlap, the last answer that reaches the client wins. Throws for what the schema refuses. */
  setState(next: State): void
  /**
   * Whether this call, of all that came with the same revision, may replace the state: true for one of them. Needs the `store`. The
   * claim is given back when the call fails, and holds for `ttlMs` (10 minutes when absent) otherwise. In a handler that also asks, claim
   * within a `ctx.step`.
   */
  claim(options?: { readonly ttlMs?: number | undefined }): Promise<boolean>
}

const tenMinutes = 600_000

/** The session of one run. */
export function sessionOf<State extends JsonValue>(run: SessionRun, reading: StateReading<State>): Session<State> {
  const { session } = run
  const { id, expiresAt, revision } = session
  let state = reading.read(session.value, (error) => session.rules.report(error, session))
  return {
    id,
    expiresAt,
    revision,
    get state() {
      return state
    },
    setState(next) {
      refuseEnded(session, 'setState')
      state = reading.check(next)
      run.draft = { value: state }
    },
    claim: async ({ ttlMs = tenMinutes } = {}) => claim(session, ttlMs),
  }
}

async function claim(session: OpenedSession, ttlMs: number): Promise<boolean> {
  const { store } = session.rules
  if (store === undefined) {
    throw new SessionUsageError('claim() needs a store that all instances share: give defineSessions one')
  }
  refuseEnded(session, 'claim')
  if (session.claim !== undefined) return true
  const key = await storeKey('session-claim', `${session.revision} ${session.id}`)
  if (!(await store.add(key, '1', ttlMs))) return false
  session.claim = key
  return true
}

function refuseEnded({ open }: OpenedSession, called: string): void {
  if (open) return
  throw new SessionUsageError(`${called} was used after the call had ended: await everything that the handler starts`)
}
