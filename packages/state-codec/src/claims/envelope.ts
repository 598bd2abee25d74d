import type { JsonValue } from '../json.ts'
import type { OpenClaims, SealClaims } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { admitValue } from './admit-value.ts'
import { canonicalJson } from './canonical-json.ts'
import { audienceOf, type ClaimRules, checkPurpose, clockSkewMs, timesOf } from './claim-rules.ts'

/** SHA-256 of a text's UTF-8 in Base64url, by whatever the platform has. */
export type Digest = (text: string) => Promise<string> | string

/** What the claims are checked with. */
export interface ClaimCheck {
  readonly rules: ClaimRules
  /** What {@link bindingDigest} gave for the binding that is claimed. */
  readonly bind: string | undefined
}

/** What a token carries besides its value. Times are milliseconds since the epoch; the binding is a digest in Base64url. */
interface Envelope {
  readonly at: number
  readonly until: number
  readonly since: number
  readonly aud?: string
  readonly bind?: string
  readonly value: JsonValue
}

/** A written envelope. */
export interface WrittenEnvelope {
  readonly text: string
  /** How long it opens from now, in milliseconds. */
  readonly ttlMs: number
}

/**
 * The digest of a claimed binding; none for none. Apart from the envelope, since it alone may be a promise, and one costs more than the rest.
 *
 * @throws StateUsageError for a binding that has no canonical form.
 */
export function bindingDigest({ binding }: OpenClaims, digest: Digest): Promise<string> | string | undefined {
  return binding === undefined ? undefined : digest(canonicalJson(binding))
}

/**
 * Writes a value and its claims as the text that a token carries.
 *
 * @throws StateError with `too_old` when the flow is past its age, so that nobody is asked in vain.
 * @throws StateUsageError for a value or a claim that cannot be sealed.
 */
export function writeEnvelope(value: JsonValue, claims: SealClaims, { rules, bind }: ClaimCheck): WrittenEnvelope {
  checkPurpose(claims.purpose)
  admitValue(value)
  const { at, until, since } = timesOf(claims, rules)
  if (until <= at) throw new StateError('too_old', `The flow began ${at - since} ms ago, the most is ${rules.maxAgeMs}`)
  const aud = audienceOf(claims.audience) ?? rules.audience
  // Joined by hand, at half the cost: times are finite, and a digest has nothing to escape.
  const audience = aud === undefined ? '' : `"aud":${JSON.stringify(aud)},`
  const bound = bind === undefined ? '' : `"bind":"${bind}",`
  const times = `"at":${at},"until":${until},"since":${since},`
  return { text: `{${times}${audience}${bound}"value":${JSON.stringify(value)}}`, ttlMs: until - at }
}

/**
 * Reads a text that {@link writeEnvelope} made, and gives its value when every claim holds.
 *
 * All claims are checked before the first that failed is told: how long it takes says nothing about which one it was.
 * @throws StateError
 */
export function readEnvelope(text: string, claims: OpenClaims, { rules, bind }: ClaimCheck): JsonValue {
  const envelope = parseEnvelope(text)
  const untimely = timeFailure(envelope, rules)
  const misdirected = audienceFailure(envelope.aud, audienceOf(claims.audience) ?? rules.audience)
  const unbound = bindingFailure(envelope.bind, bind)
  const failure = untimely ?? misdirected ?? unbound
  if (failure !== undefined) throw failure
  return envelope.value
}

function parseEnvelope(text: string): Envelope {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isEnvelope(parsed)) return parsed
  } catch (cause) {
    throw new StateError('malformed', 'The content is not JSON', { cause })
  }
  throw new StateError('malformed', 'The content is not that of a state: another program may use the same key')
}

function isEnvelope(parsed: unknown): parsed is Envelope {
  if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, 'value')) return false
  // Any object may be asked for members of any name.
  const members = parsed as EnvelopeMembers
  return hasTimes(members) && isText(members.aud) && isText(members.bind)
}

type EnvelopeMembers = Readonly<Partial<Record<keyof Envelope, unknown>>>

// Own members alone: bare access would find what a prototype has.
function hasTimes(members: EnvelopeMembers): boolean {
  if (!Object.hasOwn(members, 'at') || !Object.hasOwn(members, 'until') || !Object.hasOwn(members, 'since'))
    return false
  return Number.isFinite(members.at) && Number.isFinite(members.until) && Number.isFinite(members.since)
}

function isText(member: unknown): boolean {
  return member === undefined || typeof member === 'string'
}

function timeFailure({ at, until, since }: Envelope, { clock, maxAgeMs }: ClaimRules): StateError | undefined {
  const now = clock.now()
  // Each says what must hold, so that a time that is no number fails.
  if (!(at <= now + clockSkewMs && since <= now + clockSkewMs)) {
    return new StateError('not_yet', `It was made ${Math.max(at, since) - now} ms in the future: compare the clocks`)
  }
  if (!(now < until)) return new StateError('expired', `It expired ${now - until} ms ago`)
  if (now - since < maxAgeMs) return undefined
  return new StateError('too_old', `The flow began ${now - since} ms ago, the most is ${maxAgeMs}`)
}

function audienceFailure(found: string | undefined, expected: string | undefined): StateError | undefined {
  if (found === expected) return undefined
  return new StateError('audience', `It was made for ${named(found)}, and this is ${named(expected)}`)
}

function named(audience: string | undefined): string {
  return audience === undefined ? 'no audience' : `audience "${audience}"`
}

function bindingFailure(found: string | undefined, expected: string | undefined): StateError | undefined {
  const same = equalDigests(found ?? '', expected ?? '')
  if (same && (found === undefined) === (expected === undefined)) return undefined
  const detail =
    expected === undefined
      ? 'It is bound, and no binding was claimed'
      : found === undefined
        ? 'It is not bound, and a binding was claimed'
        : 'It is bound to something else: another principal, target or argument'
  return new StateError('binding', detail)
}

/** The characters of a SHA-256 digest in Base64url. */
const digestLength = 43

/** Compares two digests in a time that does not depend on where they differ; each has one text alone. */
function equalDigests(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  // Past the end of either is NaN, which counts as 0; the lengths differ then.
  for (let index = 0; index < digestLength; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

/** @throws StateUsageError for what cannot be a token at all, which is a mistake of the caller and not of a peer. */
export function checkToken(token: unknown): asserts token is string {
  if (typeof token === 'string') return
  throw new StateUsageError('configuration', `open() was given ${typeof token} instead of a token`)
}
