import type { JsonValue } from '../json.ts'
import type { OpenClaims, SealClaims } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { decodeBase64url, encodeBase64url } from '../token/base64url.ts'
import { admitValue } from './admit-value.ts'
import { canonicalJson } from './canonical-json.ts'
import { audienceOf, type ClaimRules, checkPurpose, clockSkewMs, timesOf } from './claim-rules.ts'

/** SHA-256 of a text's UTF-8, by whatever the platform has. */
export type Digest = (text: string) => Promise<Uint8Array> | Uint8Array

/** What the claims are checked with. */
export interface ClaimCheck {
  readonly rules: ClaimRules
  readonly digest: Digest
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
 * Writes a value and its claims as the text that a token carries.
 *
 * @throws StateError with `too_old` when the flow is past its age, so that nobody is asked in vain.
 * @throws StateUsageError for a value or a claim that cannot be sealed.
 */
export async function writeEnvelope(value: JsonValue, claims: SealClaims, check: ClaimCheck): Promise<WrittenEnvelope> {
  const { rules, digest } = check
  checkPurpose(claims.purpose)
  admitValue(value)
  const { at, until, since } = timesOf(claims, rules)
  if (until <= at) throw new StateError('too_old', `The flow began ${at - since} ms ago, the most is ${rules.maxAgeMs}`)
  const aud = audienceOf(claims.audience) ?? rules.audience
  const bind = claims.binding === undefined ? undefined : await bindingDigest(claims.binding, digest)
  // Undefined members are left out by JSON.stringify.
  return { text: JSON.stringify({ at, until, since, aud, bind, value }), ttlMs: until - at }
}

/**
 * Reads a text that {@link writeEnvelope} made, and gives its value when every claim holds.
 *
 * All claims are checked before the first that failed is told: how long it takes says nothing about which one it was.
 * @throws StateError
 */
export async function readEnvelope(text: string, claims: OpenClaims, check: ClaimCheck): Promise<JsonValue> {
  const { rules, digest } = check
  const expected = claims.binding === undefined ? undefined : await bindingDigest(claims.binding, digest)
  const envelope = parseEnvelope(text)
  const failures = [
    ...timeFailures(envelope, rules),
    ...audienceFailures(envelope.aud, audienceOf(claims.audience) ?? rules.audience),
    ...bindingFailures(envelope.bind, expected),
  ]
  const [first] = failures
  if (first !== undefined) throw first
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
  // Own members alone; `in` and bare access would find what a prototype has.
  const members = new Map<string, unknown>(Object.entries(parsed))
  const isText = (name: string): boolean => !members.has(name) || typeof members.get(name) === 'string'
  return ['at', 'until', 'since'].every((name) => Number.isFinite(members.get(name))) && isText('aud') && isText('bind')
}

function timeFailures({ at, until, since }: Envelope, { clock, maxAgeMs }: ClaimRules): StateError[] {
  const now = clock.now()
  // Each says what must hold, so that a time that is no number fails.
  const rules: readonly (readonly [boolean, () => StateError])[] = [
    [
      at <= now + clockSkewMs && since <= now + clockSkewMs,
      () => new StateError('not_yet', `It was made ${Math.max(at, since) - now} ms in the future: compare the clocks`),
    ],
    [now < until, () => new StateError('expired', `It expired ${now - until} ms ago`)],
    [
      now - since < maxAgeMs,
      () => new StateError('too_old', `The flow began ${now - since} ms ago, the most is ${maxAgeMs}`),
    ],
  ]
  return rules.flatMap(([holds, failure]) => (holds ? [] : [failure()]))
}

function audienceFailures(found: string | undefined, expected: string | undefined): StateError[] {
  if (found === expected) return []
  return [new StateError('audience', `It was made for ${named(found)}, and this is ${named(expected)}`)]
}

function named(audience: string | undefined): string {
  return audience === undefined ? 'no audience' : `audience "${audience}"`
}

function bindingFailures(found: string | undefined, expected: string | undefined): StateError[] {
  const same = equalDigests(found, expected)
  if (same && (found === undefined) === (expected === undefined)) return []
  const detail =
    expected === undefined
      ? 'It is bound, and no binding was claimed'
      : found === undefined
        ? 'It is not bound, and a binding was claimed'
        : 'It is bound to something else: another principal, target or argument'
  return [new StateError('binding', detail)]
}

async function bindingDigest(binding: JsonValue, digest: Digest): Promise<string> {
  return encodeBase64url(await digest(canonicalJson(binding)))
}

const noDigest = new Uint8Array(32)

/** Compares two SHA-256 digests in a time that does not depend on where they differ. */
function equalDigests(first: string | undefined, second: string | undefined): boolean {
  const one = digestBytes(first)
  const other = digestBytes(second)
  let difference = one.length ^ other.length
  for (let index = 0; index < 32; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0)
  return difference === 0
}

function digestBytes(encoded: string | undefined): Uint8Array {
  return encoded === undefined ? noDigest : (decodeBase64url(encoded) ?? noDigest)
}

/** @throws StateUsageError for what cannot be a token at all, which is a mistake of the caller and not of a peer. */
export function checkToken(token: unknown): asserts token is string {
  if (typeof token === 'string') return
  throw new StateUsageError('configuration', `open() was given ${typeof token} instead of a token`)
}
