import type { JsonObject } from '../basic/json.ts'
import type { RequestId, RpcMessage } from '../basic/rpc.ts'

/** Serializes a message as one line of JSON. The text of a {@link preparedMessage} result is reused. */
export function encodeMessage(message: RpcMessage): string {
  if (!('result' in message)) return JSON.stringify(message)
  const text = resultText(message.result)
  if (text === undefined) return JSON.stringify(message)
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${text}}`
}

/**
 * Freezes a result deeply, and lets {@link encodeMessage} cache its text after the first use. For results that are sent
 * often, such as pages of a list.
 */
export function preparedMessage<T extends object>(result: T): T {
  freeze(result)
  if (!texts.has(result)) texts.set(result, undefined)
  return result
}

/** A message with a large prepared result, as the pieces of its text. */
export interface MessagePieces {
  /** The text before the result, in ASCII. */
  readonly head: string
  /** The cached text of the result in UTF-8; it must not be modified. */
  readonly result: Uint8Array
  /** The text after the result, in ASCII. */
  readonly tail: string
}

/**
 * Serializes a message into pieces when its result is {@link preparedMessage} and large; joining them would copy the result
 * for every request. Undefined for any other message.
 */
export function encodePieces(message: RpcMessage): MessagePieces | undefined {
  if (!('result' in message)) return undefined
  const cached = cachedTexts(message.result)
  if (cached === undefined || cached.text.length < largeText) return undefined
  cached.bytes ??= new TextEncoder().encode(cached.text)
  return { head: `{"jsonrpc":"2.0","id":${asciiOf(message.id)},"result":`, result: cached.bytes, tail: '}' }
}

const largeText = 16_384

/** The cached texts of a prepared result. */
interface PreparedText {
  readonly text: string
  bytes: Uint8Array | undefined
}

const texts = new WeakMap<object, PreparedText | undefined>()

function resultText(result: JsonObject): string | undefined {
  return cachedTexts(result)?.text
}

function cachedTexts(result: JsonObject): PreparedText | undefined {
  const known = texts.get(result)
  if (known !== undefined || !texts.has(result)) return known
  const cached = { text: JSON.stringify(result), bytes: undefined }
  texts.set(result, cached)
  return cached
}

function asciiOf(id: RequestId): string {
  return JSON.stringify(id).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function freeze(value: object): void {
  if (Object.isFrozen(value) && texts.has(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) freeze(member)
  }
}
