import {
  checkedNumber,
  findJsonProblem,
  isPlainObject,
  type JsonProblem,
  type JsonRules,
  type JsonValue,
  type OptionTable,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { TokenContext, OpenOptions, SealOptions, CodecOptions } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { canonicalizeJson, maxDepth } from './canonical-json.ts'

/** SHA-256 of a text's UTF-8 bytes, in Base64url. */
export type DigestFunction = (text: string) => Promise<string> | string

interface EnvelopeSettings {
  readonly codecOptions: ResolvedCodecOptions
  readonly bindingDigest: string | undefined
}

/** Another value replaces it in the store. */
export interface ReplacedValue {
  readonly key: string
  /** In milliseconds since the epoch. */
  readonly at: number
}

/** What a token contains. Times are milliseconds since the epoch. */
export interface Envelope {
  readonly at: number
  readonly until: number
  readonly since: number
  readonly aud?: string | undefined
  /** Digest of the binding: 132 bits in Base64url. */
  readonly bind?: string | undefined
  readonly replaces?: ReplacedValue | undefined
  readonly value: JsonValue
}

const digestLength = 22

/**
 * `undefined` without a binding. A step of its own, because it alone may be asynchronous: a promise for every envelope
 * would cost more than all other steps.
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

const stateRules: JsonRules = { maxDepth, acceptsObject: isPlainObject }

/**
 * Rejects what `JSON.stringify` would change silently: a `Date`, a `Map`, `NaN`, a function.
 *
 * @throws StateUsageError with `not_json` and the path of the value.
 */
function checkJsonValue(value: unknown): void {
  const problem = findJsonProblem(value, stateRules)
  if (problem === undefined) return
  const { path } = problem
  const location = path.length === 0 ? 'The value' : `"${path.slice(0, 8).join('.').slice(0, 200)}"`
  throw new StateUsageError(
    'not_json',
    `${location} is ${describeProblem(problem)}, which a state cannot carry: turn it into plain JSON`,
  )
}

function describeProblem({ reason, value }: JsonProblem): string {
  if (reason === 'too_deep') return `nested deeper than ${maxDepth} levels`
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? `a ${value?.constructor?.name ?? 'class instance'}` : typeof value
}

/**
 * Returns the value if the context matches. All of it is checked before the first failure is thrown, so that the time
 * does not reveal what failed.
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

/** In constant time. */
function areDigestsEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  // Past the end of a text, `charCodeAt` returns NaN, which counts as 0. The lengths differ then.
  for (let index = 0; index < digestLength; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

/**
 * `open` needs a string.
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

export type ResolvedCodecOptions = ResolvedOptions<CodecOptions, typeof codecOptionTable>

/** The clocks of two instances may differ so much. */
export const clockSkewMs = 30_000

/**
 * `table` also has the options that only this codec has.
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

/** A token with these options opens for so many milliseconds at most. */
export function maxLifetimeOf({ maxAgeMs }: ResolvedCodecOptions): number {
  return maxAgeMs + clockSkewMs
}

/**
 * When a token is made, when it expires, and when its flow began.
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

export function checkPurpose(purpose: string): void {
  if (typeof purpose === 'string' && purpose.length > 0 && purpose.length <= 256 && !loneSurrogatePattern.test(purpose))
    return
  throw new StateUsageError(
    'configuration',
    'purpose must be a string of 1 to 256 characters: say what the state is for',
  )
}

function checkAudience(audience: string | undefined): string | undefined {
  if (audience === undefined || (typeof audience === 'string' && audience.length > 0 && audience.length <= 1024)) {
    return audience
  }
  throw new StateUsageError('configuration', 'audience must be a string of 1 to 1024 characters, or left out')
}
