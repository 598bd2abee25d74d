import { errorCodes } from '../basic/error-codes.ts'
import { McpError } from '../basic/mcp-error.ts'

/**
 * Encodes a text as an HTTP header value: unchanged when it is plain ASCII, else its UTF-8 in the Base64 sentinel form
 * (basic/transports/streamable-http, value encoding). Throws `McpError(invalidParams)` for a lone surrogate, which
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
 * Decodes an HTTP header value. Returns `undefined` for a character that a header may not contain, and for Base64 that
 * is not the canonical encoding of a UTF-8 text (basic/transports/streamable-http, value encoding). Takes the value as
 * HTTP defines it, without surrounding white space.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plainForm.test(value)) return undefined
  if (!isSentinel(value)) return value
  // In =?base64?= the two markers share a character, so no content can stand between them.
  return value.length < prefix.length + suffix.length
    ? undefined
    : decodeBase64(value.slice(prefix.length, -suffix.length))
}

const prefix = '=?base64?'
const suffix = '?='

/** Visible ASCII, with inner spaces and tabs. The second group cannot match in two ways, so this is linear. */
const plainForm = /^(?:[\x21-\x7e]+(?:[\t ]+[\x21-\x7e]+)*)?$/

const encoder = new TextEncoder()
// A byte order mark belongs to the text here; it is not a hint at the encoding.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isSentinel(value: string): boolean {
  return value.startsWith(prefix) && value.endsWith(suffix)
}

function decodeBase64(base64: string): string | undefined {
  try {
    const binary = atob(base64)
    // atob accepts missing padding, spaces and stray bits. Two headers for one text would let a gateway and a server
    // see different values, so only the canonical encoding is accepted.
    if (btoa(binary) !== base64) return undefined
    return decoder.decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)))
  } catch {
    return undefined
  }
}
