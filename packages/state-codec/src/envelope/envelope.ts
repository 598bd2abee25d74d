import {
  checkedNumber,
  type JsonValue,
  type OptionTable,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { TokenContext, OpenOptions, SealOptions, CodecOptions } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { checkJsonValue } from './check-json-value.ts'
import { canonicalizeJson } from './canonical-json.ts'

/** Returns the SHA-256 digest of a text's UTF-8 bytes in Base64url. */
export type DigestFunction = (text: string) => Promise<string> | string

/** The values that are needed to write and check a context. */
interface EnvelopeSettings {
  readonly codecOptions: ResolvedCodecOptions
  /** The digest of the given binding, from {@link digestBinding}. */
  readonly bindingDigest: string | undefined
}

/** A value in a store that another value replaces. */
export interface ReplacedValue {
  /** The key of the value in the store. */
  readonly key: string
  /** The time when the value was replaced, in milliseconds since the epoch. */
  readonly at: number
}

/** The content of a token. Times are milliseconds since the epoch. */
export interface Envelope {
  readonly at: number
  readonly until: number
  readonly since: number
  readonly aud?: string | undefined
  /** The digest of the binding: 132 bits in Base64url. */
  readonly bind?: string | undefined
  readonly replaces?: ReplacedValue | undefined
  readonly value: JsonValue
}

/** The length in characters of a binding's digest. */
const digestLength = 22

/**
 * Returns the digest of a given binding, or `undefined` without a binding. This step is separate, because it is the
 * only one that may be asynchronous. A promise for every envelope would cost more than all other steps.
 *
 * @throws StateUsageError for a binding that has no canonical form.
 */
export function digestBinding({ binding }: TokenContext, digest: DigestFunction): Promise<string> | string | undefined {
  if (binding === undefined) return undefined
  const fullDigest = digest(canonicalizeJson(binding))
  return typeof fullDigest === 'string'
    ? fullDigest.slice(0, digestLength)
    : fullDigest.then((text) => text.slice(0, digestLength))
}

/**
 * Puts a value and its context into an envelope.
 *
 * @throws StateError with `too_old` when the flow exceeds its maximum age. Otherwise a user could be asked a question
 * whose answer would be rejected.
 * @throws StateUsageError for a value or a context that cannot be sealed.
 */
export function createEnvelope(
  value: JsonValue,
  context: SealOptions,
  { codecOptions, bindingDigest }: EnvelopeSettings,
): Envelope {
  checkPurpose(context.purpose)
  checkJsonValue(value)
  const { at, until, since } = computeTokenTimes(context, codecOptions)
  if (until <= at)
    throw new StateError('too_old', `The flow began ${at - since} ms ago; the limit is ${codecOptions.maxAgeMs}`)
  return { at, until, since, aud: checkAudience(context.audience) ?? codecOptions.audience, bind: bindingDigest, value }
}

/**
 * Returns the value of an envelope if its context matches. All of it is checked before the first failure is thrown, so
 * that the time does not reveal what failed.
 *
 * @throws StateError when a part of the context differs.
 */
export function openEnvelope(
  envelope: Envelope,
  context: OpenOptions,
  { codecOptions, bindingDigest }: EnvelopeSettings,
): JsonValue {
  const timeProblem = findTimeFailure(envelope, codecOptions)
  const audienceProblem = findAudienceFailure(envelope.aud, checkAudience(context.audience) ?? codecOptions.audience)
  const bindingProblem = findBindingFailure(envelope.bind, bindingDigest)
  const failure = timeProblem ?? audienceProblem ?? bindingProblem
  if (failure !== undefined) throw failure
  const { until, since } = envelope
  context.onOpen?.({ ttlMs: Math.min(until, since + codecOptions.maxAgeMs) - codecOptions.runtime.now(), since })
  return envelope.value
}

function findTimeFailure(
  { at, until, since }: Envelope,
  { runtime, maxAgeMs }: ResolvedCodecOptions,
): StateError | undefined {
  const now = runtime.now()
  // Each condition describes the valid case and is negated, so that NaN fails.
  if (!(at <= now + clockSkewMs && since <= now + clockSkewMs)) {
    return new StateError(
      'not_yet',
      `Clocks differ by at least ${Math.ceil((Math.max(at, since) - now) / 1000)} s: it was made in the future of this instance`,
    )
  }
  if (!(now < until)) return new StateError('expired', `It expired ${now - until} ms ago`)
  if (now - since < maxAgeMs) return undefined
  return new StateError('too_old', `The flow began ${now - since} ms ago; the limit is ${maxAgeMs}`)
}

function findAudienceFailure(
  sealedAudience: string | undefined,
  expectedAudience: string | undefined,
): StateError | undefined {
  if (sealedAudience === expectedAudience) return undefined
  return new StateError(
    'audience',
    `It was made for ${quoteAudience(sealedAudience)}, and this is ${quoteAudience(expectedAudience)}`,
  )
}

function quoteAudience(audience: string | undefined): string {
  return audience === undefined ? 'no audience' : `audience "${audience}"`
}

function findBindingFailure(
  sealedDigest: string | undefined,
  expectedDigest: string | undefined,
): StateError | undefined {
  const areEqual = areDigestsEqual(sealedDigest ?? '', expectedDigest ?? '')
  if (areEqual && (sealedDigest === undefined) === (expectedDigest === undefined)) return undefined
  const detail =
    expectedDigest === undefined
      ? 'It is bound, and no binding was claimed'
      : sealedDigest === undefined
        ? 'It is not bound, and a binding was claimed'
        : 'It is bound to another principal, target or argument'
  return new StateError('binding', detail)
}

/** Compares the texts of two digests in constant time. */
function areDigestsEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  // Past the end of a text, `charCodeAt` returns NaN, which counts as 0. The lengths differ in that case.
  for (let index = 0; index < digestLength; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

/**
 * Checks that `open` was given a string.
 *
 * @throws StateUsageError for any other value, which is a mistake of the program and not of a peer.
 */
export function checkToken(token: unknown): asserts token is string {
  if (typeof token === 'string') return
  throw new StateUsageError('configuration', `open() was given ${typeof token} instead of a token`)
}

export const codecOptionTable = {
  audience: undefined,
  // An hour to answer a question, and a day for all questions of a flow.
  // limit: ms | the life of a token | `-32602`
  ttlMs: 3_600_000,
  // limit: ms | the age of a call, over all its rounds | `-32602`
  maxAgeMs: 86_400_000,
  runtime: { default: platformRuntime },
} satisfies OptionTable<CodecOptions>

/** The options of a codec with every default filled in. */
export type ResolvedCodecOptions = ResolvedOptions<CodecOptions, typeof codecOptionTable>

/** The accepted difference between the clocks of two instances, in milliseconds. */
export const clockSkewMs = 30_000

/**
 * Fills in the defaults of the options of a codec. `table` also has the options that only this codec has.
 *
 * @throws TypeError for an unknown option.
 * @throws RangeError for an invalid duration, and for a `ttlMs` that exceeds `maxAgeMs`.
 */
export function resolveCodecOptions(
  options: CodecOptions,
  table: typeof codecOptionTable,
  where: string,
): ResolvedCodecOptions {
  const maxAgeMs = checkedNumber('maxAgeMs', options?.maxAgeMs ?? table.maxAgeMs)
  const ttlMs = { default: Math.min(table.ttlMs, maxAgeMs), max: maxAgeMs }
  const resolved = resolveOptions(options, { ...table, ttlMs }, where)
  return { ...resolved, audience: checkAudience(resolved.audience) }
}

/** Returns the longest time in milliseconds during which a token with these options can open. */
export function maxLifetimeOf({ maxAgeMs }: ResolvedCodecOptions): number {
  return maxAgeMs + clockSkewMs
}

/**
 * Returns the time when a token is made, the time of its expiry, and the start of its flow.
 *
 * @throws RangeError for an invalid time or duration.
 */
function computeTokenTimes(
  context: SealOptions,
  codecOptions: ResolvedCodecOptions,
): { at: number; until: number; since: number } {
  const at = checkedNumber('runtime.now()', Math.trunc(codecOptions.runtime.now()), { min: 0 })
  const since = context.since === undefined ? at : checkedNumber('since', Math.trunc(context.since), { min: 0 })
  const ttlMs = context.ttlMs === undefined ? codecOptions.ttlMs : checkedNumber('ttlMs', Math.ceil(context.ttlMs))
  return { at, until: Math.min(at + ttlMs, since + codecOptions.maxAgeMs), since }
}

const loneSurrogatePattern = /\p{Surrogate}/u

/**
 * Checks a purpose.
 *
 * @throws StateUsageError for a purpose from which no keys can be derived.
 */
export function checkPurpose(purpose: string): void {
  if (typeof purpose === 'string' && purpose.length > 0 && purpose.length <= 256 && !loneSurrogatePattern.test(purpose))
    return
  throw new StateUsageError(
    'configuration',
    'purpose must be a string of 1 to 256 characters: say what the state is for',
  )
}

/**
 * Returns a checked audience.
 *
 * @throws StateUsageError for an empty or overlong audience.
 */
function checkAudience(audience: string | undefined): string | undefined {
  if (audience === undefined || (typeof audience === 'string' && audience.length > 0 && audience.length <= 1024)) {
    return audience
  }
  throw new StateUsageError('configuration', 'audience must be a string of 1 to 1024 characters, or left out')
}
