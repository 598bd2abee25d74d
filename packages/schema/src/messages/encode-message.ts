import type { JsonObject } from '../basic/json.ts'
import type { RequestId, RpcMessage } from '../basic/rpc.ts'

/** A message as one line of JSON text. A {@link prepared} result is not written out again. */
export function encodeMessage(message: RpcMessage): string {
  if (!('result' in message)) return JSON.stringify(message)
  const text = textOf(message.result)
  if (text === undefined) return JSON.stringify(message)
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${text}}`
}

/**
 * Freezes a result with all that is in it, and lets {@link encodeMessage} keep its text from the first time that it is
 * sent. For results that are sent often, such as the pages of a list.
 */
export function prepared<T extends object>(result: T): T {
  freeze(result)
  if (!texts.has(result)) texts.set(result, undefined)
  return result
}

/** A message with a large prepared result, in the pieces that make its text. */
export interface MessagePieces {
  /** What comes before the result: ASCII alone. */
  readonly head: string
  /** The result's text in UTF-8, which is kept; not to be changed. */
  readonly result: Uint8Array
  /** What comes after it: ASCII alone. */
  readonly tail: string
}

/**
 * A message as pieces of its text, when its result is {@link prepared} and large: to join them would copy the result for every
 * request. Undefined for any other message.
 */
export function encodePieces(message: RpcMessage): MessagePieces | undefined {
  if (!('result' in message)) return undefined
  const kept = keptOf(message.result)
  if (kept === undefined || kept.text.length < largeText) return undefined
  kept.bytes ??= new TextEncoder().encode(kept.text)
  return { head: `{"jsonrpc":"2.0","id":${asciiOf(message.id)},"result":`, result: kept.bytes, tail: '}' }
}

const largeText = 16_384

/** What is kept of a prepared result. */
interface Kept {
  readonly text: string
  bytes: Uint8Array | undefined
}

const texts = new WeakMap<object, Kept | undefined>()

function textOf(result: JsonObject): string | undefined {
  return keptOf(result)?.text
}

function keptOf(result: JsonObject): Kept | undefined {
  const known = texts.get(result)
  if (known !== undefined || !texts.has(result)) return known
  const kept = { text: JSON.stringify(result), bytes: undefined }
  texts.set(result, kept)
  return kept
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
