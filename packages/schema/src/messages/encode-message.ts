import type { JsonObject } from '../basic/json.ts'
import type { RpcMessage } from '../basic/rpc.ts'

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

const texts = new WeakMap<object, string | undefined>()

function textOf(result: JsonObject): string | undefined {
  const known = texts.get(result)
  if (known !== undefined || !texts.has(result)) return known
  const text = JSON.stringify(result)
  texts.set(result, text)
  return text
}

function freeze(value: object): void {
  if (Object.isFrozen(value) && texts.has(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) freeze(member)
  }
}
