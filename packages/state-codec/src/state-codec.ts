import type { JsonValue } from './json.ts'

/** Turns a JSON value into a URL-safe string that may pass through untrusted hands, and back. */
export interface StateCodec {
  /**
   * Makes the token that carries a value.
   *
   * @throws StateUsageError when the value is not JSON or is too large, and when the claims are mistaken.
   * @throws StateError with `too_old` when the flow is past its age, with `unavailable` when a store cannot be reached.
   */
  seal(value: JsonValue, claims: SealClaims): Promise<string>
  /**
   * Gives back the value of a token, when everything that was claimed at sealing is claimed again.
   *
   * @throws StateError for every token that is not to be believed; its `code` is for the operator alone.
   */
  open(token: string, claims: OpenClaims): Promise<JsonValue>
  /** How long after its making a token may still open, in milliseconds; `singleUse` remembers for so long. */
  readonly lifetimeMs?: number | undefined
}

/** What opening a token must claim again. */
export interface OpenClaims {
  /** What the token is for. It is part of the token's readable header, and keys are derived from it. 1 to 256 characters. */
  readonly purpose: string
  /** Which service the token is for, instead of the codec's own; not a name that differs between instances. */
  readonly audience?: string | undefined
  /** Whom and what the token belongs to (a principal, a method, its arguments): any JSON, compared by its digest. */
  readonly binding?: JsonValue | undefined
}

/** What a token is sealed with. */
export interface SealClaims extends OpenClaims {
  /** When the flow began that the token is a part of, in milliseconds since the epoch. Default: now. */
  readonly since?: number | undefined
  /** How long this token opens, in milliseconds, instead of the codec's own. */
  readonly ttlMs?: number | undefined
}

/** The time of day: milliseconds since the epoch. */
export interface StateClock {
  now(): number
}

/** The options that every codec has. */
export interface ClaimOptions {
  /** Which service the tokens are for; the same on every instance, and another one on every service that has the same keys. */
  readonly audience?: string | undefined
  /** How long a token opens, in milliseconds. Default: one hour. */
  readonly ttlMs?: number | undefined
  /** How long a flow may last over all of its tokens, in milliseconds. Default: 24 hours. */
  readonly maxAgeMs?: number | undefined
  /** The largest token that is made or looked at, in bytes. Default: 32 KiB; for a value in a store, 1 MiB. */
  readonly maxBytes?: number | undefined
  /** Default: the platform's. */
  readonly clock?: StateClock | undefined
  /** Where nonces and handles come from. Default: the platform's secure source; anything else is for test vectors. */
  readonly random?: ((bytes: number) => Uint8Array) | undefined
}
