import type { JsonObject } from '@x/core'
import type { RequestId, RpcMessage } from '../basic/rpc.ts'

/** Serializes a message as one line of JSON. The text of a result from {@link prepareResult} is cached and reused. */
export function encodeMessage(message: RpcMessage): string {
  if (!('result' in message)) return JSON.stringify(message)
  const text = resultTextOf(message.result)
  if (text === undefined) return JSON.stringify(message)
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${text}}`
}

/**
 * Freezes a result deeply, and lets {@link encodeMessage} cache its text after the first use. Use it for results that
 * are sent often, such as pages of a list.
 */
export function prepareResult<T extends object>(result: T): T {
  freezeDeeply(result)
  if (!preparedTexts.has(result)) preparedTexts.set(result, undefined)
  return result
}

/** The text of a message with a large result from {@link prepareResult}, in pieces. */
export interface MessagePieces {
  /** The text before the result, in ASCII. */
  readonly head: string
  /** The cached text of the result in UTF-8. It must not be modified. */
  readonly result: Uint8Array
  /** The text after the result, in ASCII. */
  readonly tail: string
}

/**
 * Serializes a message with a large result from {@link prepareResult} into pieces, because joining the pieces would
 * copy the result for every request. Returns undefined for any other message.
 */
export function encodePieces(message: RpcMessage): MessagePieces | undefined {
  if (!('result' in message)) return undefined
  const cachedText = preparedTextOf(message.result)
  if (cachedText === undefined || cachedText.text.length < largeTextLength) return undefined
  cachedText.bytes ??= new TextEncoder().encode(cachedText.text)
  return { head: `{"jsonrpc":"2.0","id":${toAsciiJson(message.id)},"result":`, result: cachedText.bytes, tail: '}' }
}

const largeTextLength = 16_384

/** The cached texts of a result from {@link prepareResult}. */
interface PreparedText {
  readonly text: string
  bytes: Uint8Array | undefined
}

const preparedTexts = new WeakMap<object, PreparedText | undefined>()

function resultTextOf(result: JsonObject): string | undefined {
  return preparedTextOf(result)?.text
}

function preparedTextOf(result: JsonObject): PreparedText | undefined {
  const preparedText = preparedTexts.get(result)
  if (preparedText !== undefined || !preparedTexts.has(result)) return preparedText
  const cachedText = { text: JSON.stringify(result), bytes: undefined }
  preparedTexts.set(result, cachedText)
  return cachedText
}

function toAsciiJson(id: RequestId): string {
  return JSON.stringify(id).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function freezeDeeply(value: object): void {
  if (Object.isFrozen(value) && preparedTexts.has(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) freezeDeeply(member)
  }
}
