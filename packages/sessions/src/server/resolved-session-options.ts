import { errorListener, runtimeOf } from '@x/core'
import type { JsonValue } from '@x/schema'
import type { StateCodec, StateStore } from '@x/state-codec'
import { createSessionRegistry, type SessionRegistry } from './session-registry.ts'
import type { DeletedSession, NewSession, SessionErrorContext, SessionOptions } from './session-options.ts'
import { SessionUsageError } from './session-errors.ts'

/** The options of sessions with their defaults. */
export interface ResolvedSessionOptions extends SessionHooks {
  readonly codec: StateCodec
  readonly stateCodec: StateCodec
  readonly store: StateStore | undefined
  /** True when an end is known beyond this instance. */
  readonly canRevoke: boolean
  readonly registry: SessionRegistry
  readonly ttlMs: number
  /** The purposes of the tokens of this kind of sessions. Keys of other purposes do not open them. */
  readonly purposes: { readonly id: string; readonly state: string }
  readonly now: () => number
  readonly randomUuid: () => string
  /** Calls `onError` and never throws, undefined without one. */
  readonly report: ((error: unknown, errorContext: SessionErrorContext) => void) | undefined
}

/** The author's callbacks, with states parsed. */
export interface SessionHooks {
  /** True when every session has a state, so that a request without one is rejected. */
  readonly hasState: boolean
  /** Resolves with the first state of a session, undefined where its handlers keep none. */
  readonly begin: (session: NewSession) => Promise<JsonValue | undefined>
  /** Frees the resources of a session. The state is undefined when the request brought none. */
  readonly end: (session: DeletedSession<JsonValue | undefined>, report: (error: unknown) => void) => Promise<void>
}

const oneDayMs = 86_400_000

/** An answer must not depend on how its errors are logged. */
function guardErrorListener(
  onError: NonNullable<ResolvedSessionOptions['report']>,
): NonNullable<ResolvedSessionOptions['report']> {
  return (error, { method }) => {
    try {
      onError(error, { method })
    } catch {}
  }
}

/**
 * Checks the options and adds their defaults.
 *
 * @throws SessionUsageError for an invalid `ttlMs`, or one that is longer than the codec's tokens.
 */
export function resolveSessionOptions(options: SessionOptions<string>, hooks: SessionHooks): ResolvedSessionOptions {
  const { codec, stateCodec = codec, store, bus, ttlMs = oneDayMs, onError } = options
  if (!Number.isFinite(ttlMs) || ttlMs < 1) {
    throw new SessionUsageError(`ttlMs is ${ttlMs}: give milliseconds, at least 1`)
  }
  checkCodecLifetime('codec', codec, ttlMs)
  checkCodecLifetime('stateCodec', stateCodec, ttlMs)
  const runtime = runtimeOf(options.runtime)
  const now = (): number => runtime.now()
  return {
    codec,
    stateCodec,
    store,
    canRevoke: store !== undefined || bus !== undefined,
    registry: createSessionRegistry({ store, bus, now }),
    ttlMs: Math.ceil(ttlMs),
    purposes: createPurposes(options.name),
    now,
    randomUuid: () => runtime.randomUuid(),
    report: onError === undefined ? undefined : guardErrorListener(errorListener(onError, '@x/sessions')),
    ...hooks,
  }
}

/** Kinds of sessions that share a codec must not accept each other's tokens. */
function createPurposes(name = 'sessions'): ResolvedSessionOptions['purposes'] {
  const suffix = name === 'sessions' ? '' : `:${name}`
  return { id: `session${suffix}`, state: `session-state${suffix}` }
}

/** Rejects a lifetime beyond that of the tokens, which a user would notice in the middle of a conversation. */
function checkCodecLifetime(name: string, { lifetimeMs }: StateCodec, ttlMs: number): void {
  if (lifetimeMs === undefined || ttlMs <= lifetimeMs) return
  throw new SessionUsageError(
    `ttlMs is ${ttlMs}, and the tokens of ${name} open for ${lifetimeMs} ms: give the codec a maxAgeMs of ${ttlMs}, or shorten ttlMs`,
  )
}
