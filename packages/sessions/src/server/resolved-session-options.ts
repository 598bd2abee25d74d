import type { ExtensionHost } from '@x/exchange'
import type { JsonValue } from '@x/schema'
import { lazyState, randomKey, sealedState, type StateCodec, type StateStore } from '@x/state-codec'
import { createSessionRegistry, type SessionRegistry } from './session-registry.ts'
import type { DeletedSession, NewSession } from './session-options.ts'

/** What sessions use of their server. */
export type SessionHost = Pick<ExtensionHost, 'state' | 'bus' | 'runtime' | 'log'>

/** Any number of servers may share it. */
export interface SessionDefinition {
  readonly store: StateStore | undefined
  /** Seals states in place of the server's codec. */
  readonly stateCodec: StateCodec | undefined
  readonly ttlMs: number
  /** Every session has a state, so a request without one is rejected. */
  readonly hasState: boolean
  /**
   * Runs `onCreate`. The function gives the first state of the session, or undefined if the handlers keep none. It
   * throws for a state that the schema rejects.
   */
  readonly begin: (session: NewSession) => Promise<() => JsonValue | undefined>
  /** Frees the resources of a session. The state is undefined if the request contained none. */
  readonly end: (session: DeletedSession<JsonValue | undefined>, report: (error: unknown) => void) => Promise<void>
}

/** A definition, with what one server adds. */
export interface ResolvedSessionOptions extends SessionDefinition, Pick<SessionHost, 'log'> {
  readonly definition: SessionDefinition
  /** Seals ids. */
  readonly codec: StateCodec
  readonly stateCodec: StateCodec
  /** A revoked session ends at every instance. */
  readonly canRevoke: boolean
  readonly registry: SessionRegistry
  readonly now: () => number
  readonly randomUuid: () => string
}

/** A token opens only with the purpose for which it was sealed. */
export const sessionPurposes = { id: 'session', state: 'session-state' } as const

/**
 * Returns the options of sessions at one server.
 *
 * @throws RangeError for a `ttlMs` that is longer than the lifetime of the tokens of the server's codec.
 */
export function resolveSessionOptions(definition: SessionDefinition, host: SessionHost): ResolvedSessionOptions {
  const { store, ttlMs } = definition
  const { runtime, bus, log } = host
  // Tokens open for as long as a session lives.
  const codec = host.state ?? lazyState(() => sealedState({ keys: [randomKey()], runtime, maxAgeMs: ttlMs }))
  checkCodecLifetime('the server', codec, ttlMs)
  const now = (): number => runtime.now()
  return {
    ...definition,
    definition,
    codec,
    stateCodec: definition.stateCodec ?? codec,
    canRevoke: store !== undefined || bus !== undefined,
    registry: createSessionRegistry(store, bus, now),
    now,
    randomUuid: () => runtime.randomUuid(),
    log,
  }
}

/**
 * Sessions that live longer than their tokens would fail in the middle of a conversation.
 *
 * @throws RangeError for a `ttlMs` that is longer than the lifetime of the codec's tokens.
 */
export function checkCodecLifetime(name: string, { lifetimeMs }: StateCodec, ttlMs: number): void {
  if (lifetimeMs === undefined || ttlMs <= lifetimeMs) return
  throw new RangeError(
    `ttlMs is ${ttlMs}, and the tokens of ${name} open for ${lifetimeMs} ms: give the codec a maxAgeMs of ${ttlMs}, or shorten ttlMs`,
  )
}
