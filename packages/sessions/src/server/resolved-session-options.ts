import type { ExtensionHost } from '@x/exchange'
import type { JsonValue } from '@x/schema'
import { lazyState, randomKey, sealedState, type StateCodec, type StateStore } from '@x/state-codec'
import { createSessionRegistry, type SessionRegistry } from './session-registry.ts'
import type { DeletedSession, NewSession } from './session-options.ts'

/** The parts of a server that its sessions use. */
export type SessionHost = Pick<ExtensionHost, 'state' | 'bus' | 'runtime' | 'log'>

/** The definition of sessions, which any number of servers may share. */
export interface SessionDefinition extends SessionHooks {
  readonly store: StateStore | undefined
  /** The codec that seals states instead of the codec of the server. */
  readonly stateCodec: StateCodec | undefined
  readonly ttlMs: number
}

/** The definition of sessions, completed with the parts of one server. */
export interface ResolvedSessionOptions extends SessionHooks, Pick<SessionHost, 'log'> {
  readonly definition: SessionDefinition
  /** The codec that seals ids. */
  readonly codec: StateCodec
  readonly stateCodec: StateCodec
  readonly store: StateStore | undefined
  /** True if a revoked session ends at every instance. */
  readonly canRevoke: boolean
  readonly registry: SessionRegistry
  readonly ttlMs: number
  readonly now: () => number
  readonly randomUuid: () => string
}

/** The callbacks of the author, with parsed states. */
export interface SessionHooks {
  /** True if every session has a state, so that a request without a state is rejected. */
  readonly hasState: boolean
  /** Resolves with the first state of a session, or with undefined if the handlers keep no state. */
  readonly begin: (session: NewSession) => Promise<JsonValue | undefined>
  /** Frees the resources of a session. The state is undefined if the request contained none. */
  readonly end: (session: DeletedSession<JsonValue | undefined>, report: (error: unknown) => void) => Promise<void>
}

/** The purposes of session tokens. A token can be opened only with the purpose for which it was sealed. */
export const sessionPurposes = { id: 'session', state: 'session-state' } as const

/**
 * Checks the options of sessions.
 *
 * @throws RangeError for a `ttlMs` that is longer than the lifetime of the codec's tokens.
 */
export function createSessionDefinition(
  { store, ttlMs }: Pick<SessionDefinition, 'store' | 'ttlMs'>,
  stateCodec: StateCodec | undefined,
  hooks: SessionHooks,
): SessionDefinition {
  if (stateCodec !== undefined) checkCodecLifetime('state.codec', stateCodec, ttlMs)
  return { store, stateCodec, ttlMs, ...hooks }
}

/**
 * Returns the options of sessions at one server.
 *
 * @throws RangeError for a `ttlMs` that is longer than the lifetime of the tokens of the server's codec.
 */
export function resolveSessionOptions(definition: SessionDefinition, host: SessionHost): ResolvedSessionOptions {
  const { store, ttlMs, stateCodec, hasState, begin, end } = definition
  const { runtime, bus, log } = host
  // Tokens open for as long as a session lives.
  const createCodec = () => sealedState({ keys: [randomKey()], runtime, maxAgeMs: ttlMs })
  const codec = host.state ?? lazyState(createCodec)
  checkCodecLifetime('the server', codec, ttlMs)
  const now = (): number => runtime.now()
  return {
    definition,
    codec,
    stateCodec: stateCodec ?? codec,
    store,
    canRevoke: store !== undefined || bus !== undefined,
    registry: createSessionRegistry({ store, bus, now }),
    ttlMs,
    now,
    randomUuid: () => runtime.randomUuid(),
    log,
    hasState,
    begin,
    end,
  }
}

/**
 * Throws if sessions would live longer than their tokens. Otherwise a session would fail in the middle of a
 * conversation.
 */
function checkCodecLifetime(name: string, { lifetimeMs }: StateCodec, ttlMs: number): void {
  if (lifetimeMs === undefined || ttlMs <= lifetimeMs) return
  throw new RangeError(
    `ttlMs is ${ttlMs}, and the tokens of ${name} open for ${lifetimeMs} ms: give the codec a maxAgeMs of ${ttlMs}, or shorten ttlMs`,
  )
}
