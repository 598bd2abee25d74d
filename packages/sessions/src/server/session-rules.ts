import type { JsonValue } from '@x/schema'
import type { StateCodec, StateStore } from '@x/state-codec'
import { createLedger, type Ledger } from './ledger.ts'
import type { DeletedSession, NewSession, SessionFailure, SessionOptions } from './session-options.ts'
import { SessionUsageError } from './session-usage-error.ts'

/** What holds for all sessions of a definition, with what was left out filled in. */
export interface SessionRules extends SessionHooks {
  readonly codec: StateCodec
  readonly stateCodec: StateCodec
  readonly store: StateStore | undefined
  readonly ledger: Ledger
  readonly ttlMs: number
  readonly now: () => number
  readonly randomUuid: () => string
  readonly report: (error: unknown, where: SessionFailure) => void
}

/** What the author does when sessions come and go. */
export interface SessionHooks {
  /** Gives the first state of a session, when it is not the initial one. */
  readonly begin: (session: NewSession) => Promise<JsonValue | undefined>
  /** Frees what belongs to a session; a state is undefined when it is the initial one. */
  readonly end: (session: DeletedSession<JsonValue | undefined>, report: (error: unknown) => void) => Promise<void>
}

const oneDay = 86_400_000

/**
 * Fills in what was left out.
 *
 * @throws SessionUsageError for a `ttlMs` that makes no sense, or that the codec does not reach.
 */
export function compileRules(options: SessionOptions, hooks: SessionHooks): SessionRules {
  const { codec, stateCodec = codec, store, ttlMs = oneDay, onError = () => {} } = options
  if (!Number.isFinite(ttlMs) || ttlMs < 1) {
    throw new SessionUsageError(`ttlMs is ${ttlMs}: give milliseconds, at least 1`)
  }
  refuseShort('codec', codec, ttlMs)
  refuseShort('stateCodec', stateCodec, ttlMs)
  const now = options.now ?? (() => Date.now())
  return {
    codec,
    stateCodec,
    store,
    ledger: createLedger(store, now),
    ttlMs: Math.ceil(ttlMs),
    now,
    randomUuid: options.randomUuid ?? (() => crypto.randomUUID()),
    report: (error, where) => {
      try {
        onError(error, { method: where.method })
      } catch {
        // The request goes on: its answer must not depend on how its errors are written down.
      }
    },
    ...hooks,
  }
}

/** A promise of `expiresAt` that the tokens do not keep would be found out by a user in the middle of a conversation. */
function refuseShort(name: string, { lifetimeMs }: StateCodec, ttlMs: number): void {
  if (lifetimeMs === undefined || ttlMs <= lifetimeMs) return
  throw new SessionUsageError(
    `ttlMs is ${ttlMs}, and the tokens of ${name} open for ${lifetimeMs} ms: give the codec a maxAgeMs of ${ttlMs}, or shorten ttlMs`,
  )
}
