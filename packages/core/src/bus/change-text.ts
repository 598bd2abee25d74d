import { escapeNonAscii, findJsonProblem, isJsonObject, type JsonObject } from '../json.ts'
import { type Change, BusError } from './change-bus.ts'
import { quoteText } from '../quote-text.ts'

/** A change, or the notice that changes may have been lost. */
export type BusMessage = Change | { readonly gap: true }

export const maxDataDepth = 32

/**
 * Encodes a change as at most `maxBytes` of ASCII, so that each character is one byte and every database can store it.
 *
 * A topic that is too long becomes a gap: every subscriber then reads everything again, which costs more but loses no
 * change.
 *
 * @throws BusError with `too_large` when the topic alone would fit but `data` does not, or when `data` is nested
 *   deeper than 32 levels.
 */
export function encodeChange({ topic, data }: Change, maxBytes: number): string {
  if (!isWithinDepth(data)) {
    throw changeTooLargeError(topic, `is nested deeper than ${maxDataDepth}`)
  }
  const text = escapeNonAscii(JSON.stringify(data === undefined ? { topic } : { topic, data }))
  if (text.length <= maxBytes) return text
  const remainingBytes = maxBytes - escapeNonAscii(JSON.stringify({ topic })).length
  if (remainingBytes < 0) return escapeNonAscii(JSON.stringify({ gap: true }))
  throw changeTooLargeError(topic, `makes it ${text.length} bytes, and this bus carries ${maxBytes}`)
}

/**
 * Decodes what came over the channel.
 *
 * @throws BusError with `unreadable` when the text is not a message, or is longer than `maxBytes`.
 */
export function decodeMessage(text: string, maxBytes: number): BusMessage {
  // Checked before parsing, because every program with access to the channel may write anything.
  if (text.length > maxBytes) throw unreadableMessageError(`is longer than ${maxBytes} characters`)
  const value = parseChange(text)
  if (!isJsonObject(value)) throw unreadableMessageError('is not a JSON object')
  const { topic, data, gap } = value
  if (gap === true) return { gap }
  if (typeof topic !== 'string') throw unreadableMessageError('has no topic')
  if (data === undefined) return { topic }
  if (!isJsonObject(data)) throw unreadableMessageError('has data that is not an object')
  if (!isWithinDepth(data)) throw unreadableMessageError(`has data nested deeper than ${maxDataDepth}`)
  return { topic, data }
}

function parseChange(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadableMessageError('is not JSON', cause)
  }
}

function isWithinDepth(data: JsonObject | undefined): boolean {
  return findJsonProblem(data, { maxDepth: maxDataDepth, acceptsLeaves: true }) === undefined
}

function changeTooLargeError(topic: string, reason: string): BusError {
  const message = `data of the change ${quoteText(topic)} ${reason}: publish a name, and let listeners read the rest`
  return new BusError('too_large', message)
}

function unreadableMessageError(reason: string, cause?: unknown): BusError {
  const message = `A message on the channel ${reason}: give the channel to no other use, or this bus another one`
  return new BusError('unreadable', message, { cause })
}
