import { errorCodes } from '../basic/error-codes.ts'
import { McpError } from '../basic/mcp-error.ts'

/**
 * A text as the value of an HTTP header: itself when it is plain ASCII, else its UTF-8 in the Base64 sentinel form
 * (basic/transports/streamable-http, value encoding). Throws `McpError(invalidParams)` for half a surrogate pair, which
 * UTF-8 cannot carry.
 */
export function encodeHeaderValue(value: string): string {
  if (plainForm.test(value) && !isSentinel(value)) return value
  const bytes = encoder.encode(value)
  if (decoder.decode(bytes) !== value) {
    throw new McpError(errorCodes.invalidParams, 'A header cannot carry text with half a surrogate pair')
  }
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return prefix + btoa(binary) + suffix
}

/**
 * The text that an HTTP header's value stands for; `undefined` when it holds a character that a header may not, or when
 * its Base64 is not the one encoding of a UTF-8 text (basic/transports/streamable-http, value encoding). Takes the value
 * as HTTP defines it, without white space around it.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plainForm.test(value)) return undefined
  if (!isSentinel(value)) return value
  // In =?base64?= the two markers share a character, so there is nothing that they could stand around.
  return value.length < prefix.length + suffix.length
    ? undefined
    : decodeBase64(value.slice(prefix.length, -suffix.length))
}

const prefix = '=?base64?'
const suffix = '?='

/** Visible ASCII, with spaces and tabs between. The second group cannot match in two ways, so this is linear. */
const plainForm = /^(?:[\x21-\x7e]+(?:[\t ]+[\x21-\x7e]+)*)?$/

const encoder = new TextEncoder()
// A byte order mark is a part of the text here, not a hint at its encoding.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isSentinel(value: string): boolean {
  return value.startsWith(prefix) && value.endsWith(suffix)
}

function decodeBase64(base64: string): string | undefined {
  try {
    const binary = atob(base64)
    // atob overlooks missing padding, spaces and spare bits. Two headers for one text would let a gateway and a server
    // see different values, so the text must be exactly what an encoder writes.
    if (btoa(binary) !== base64) return undefined
    return decoder.decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)))
  } catch {
    return undefined
  }
}
