import { createLog, escapeNonAscii, type JsonObject, type Log, stringifyWellFormed } from '@x/core'
import type { RpcMessage } from '../basic/rpc.ts'

/**
 * Writes a message as one line of JSON. The text of a result from {@link prepareResult} is cached and reused. U+FFFD
 * takes the place of half a surrogate pair, and the log gets one warning of that. Default: a line on the standard
 * error.
 */
export function encodeMessage(message: RpcMessage, log?: Log): string {
  const onReplaced = (): void => warnOfReplacement(message, log)
  const text = 'result' in message ? preparedTextOf(message.result, onReplaced)?.text : undefined
  if (text === undefined || !('result' in message)) return stringifyWellFormed(message, onReplaced)
  return `{"jsonrpc":"2.0","id":${stringifyWellFormed(message.id, onReplaced)},"result":${text}}`
}

const warnedLogs = new WeakSet<Log>()
const defaultLog = createLog(undefined, '@x/schema')

function warnOfReplacement(message: RpcMessage, log: Log = defaultLog): void {
  if (warnedLogs.has(log)) return
  warnedLogs.add(log)
  log({
    level: 'warn',
    code: 'lone_surrogate',
    message:
      'A message has half of a surrogate pair, which other implementations refuse, so U+FFFD is sent in its place. Cut ' +
      'text between characters, as Array.from(text) or Intl.Segmenter does. Further messages are not logged',
    ...('method' in message && { method: message.method }),
    ...('id' in message && message.id !== undefined && { requestId: message.id }),
  })
}

/**
 * Freezes a result deeply, so that {@link encodeMessage} caches its text after the first use. For results that are sent
 * often, such as pages of a list.
 */
export function prepareResult<T extends object>(result: T): T {
  freezeDeeply(result)
  if (!preparedTexts.has(result)) preparedTexts.set(result, undefined)
  return result
}

/** A message with a large result from {@link prepareResult}, in pieces. */
export interface MessagePieces {
  /** Text before the result, in ASCII. */
  readonly head: string
  /** Cached text of the result in UTF-8. Must not be modified. */
  readonly result: Uint8Array
  /** Text after the result, in ASCII. */
  readonly tail: string
}

/**
 * Writes a message with a large result from {@link prepareResult} in pieces, because joining them would copy the result
 * for every request. Undefined for any other message.
 */
export function encodePieces(message: RpcMessage, log?: Log): MessagePieces | undefined {
  if (!('result' in message)) return undefined
  const cachedText = preparedTextOf(message.result, () => warnOfReplacement(message, log))
  if (cachedText === undefined || cachedText.text.length < largeTextLength) return undefined
  cachedText.bytes ??= new TextEncoder().encode(cachedText.text)
  return {
    head: `{"jsonrpc":"2.0","id":${escapeNonAscii(stringifyWellFormed(message.id))},"result":`,
    result: cachedText.bytes,
    tail: '}',
  }
}

const largeTextLength = 16_384

interface PreparedText {
  readonly text: string
  bytes: Uint8Array | undefined
}

const preparedTexts = new WeakMap<object, PreparedText | undefined>()

function preparedTextOf(result: JsonObject, onReplaced: () => void): PreparedText | undefined {
  const preparedText = preparedTexts.get(result)
  if (preparedText !== undefined || !preparedTexts.has(result)) return preparedText
  const cachedText = { text: stringifyWellFormed(result, onReplaced), bytes: undefined }
  preparedTexts.set(result, cachedText)
  return cachedText
}

function freezeDeeply(value: object): void {
  if (Object.isFrozen(value) && preparedTexts.has(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) freezeDeeply(member)
  }
}
