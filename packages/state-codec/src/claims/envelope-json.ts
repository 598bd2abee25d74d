import { StateError } from '../state-error.ts'
import type { Envelope, ReplacedValue } from './envelope.ts'

/** Returns an envelope as JSON, for tokens that people read and values in a store. */
export function stringifyEnvelope({ at, until, since, aud, bind, replaces, value }: Envelope): string {
  // Concatenation costs half of `JSON.stringify`: times are finite, and a digest needs no escapes.
  const audience = aud === undefined ? '' : `"aud":${JSON.stringify(aud)},`
  const bindingText = bind === undefined ? '' : `"bind":"${bind}",`
  const timesText = `"at":${at},"until":${until},"since":${since},`
  const replacedText = replaces === undefined ? '' : `"replaces":${JSON.stringify(replaces)},`
  return `{${timesText}${audience}${bindingText}${replacedText}"value":${JSON.stringify(value)}}`
}

/**
 * Parses a text of {@link stringifyEnvelope}.
 *
 * @throws StateError with `malformed` for any other text.
 */
export function parseEnvelope(text: string): Envelope {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isEnvelope(parsed)) return { ...parsed, replaces: replacedValueOf(parsed.replaces) }
  } catch (cause) {
    throw new StateError('malformed', 'The content is not JSON', { cause })
  }
  throw new StateError('malformed', 'The content is not a state: another program may use the same key')
}

type EnvelopeMembers = Readonly<Partial<Record<keyof Envelope, unknown>>>

function isEnvelope(parsed: unknown): parsed is Envelope {
  if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, 'value')) return false
  // The cast is safe: every member of an object can be read as unknown.
  const members = parsed as EnvelopeMembers
  return hasTimes(members) && isShortText(members.aud) && isShortText(members.bind)
}

// Own members alone: a plain read would find members of the prototype.
function hasTimes(members: EnvelopeMembers): boolean {
  if (!Object.hasOwn(members, 'at') || !Object.hasOwn(members, 'until') || !Object.hasOwn(members, 'since'))
    return false
  return Number.isFinite(members.at) && Number.isFinite(members.until) && Number.isFinite(members.since)
}

function isShortText(member: unknown): boolean {
  return member === undefined || typeof member === 'string'
}

function replacedValueOf(replaces: unknown): ReplacedValue | undefined {
  if (typeof replaces !== 'object' || replaces === null || !('key' in replaces) || !('at' in replaces)) return undefined
  const { key, at } = replaces
  return typeof key === 'string' && typeof at === 'number' && Number.isFinite(at) ? { key, at } : undefined
}
