import { isJsonObject } from '@x/schema'
import type { Message } from '../requests.ts'
import type { Attacker, Reply } from './attacker.ts'
import { callerHeader } from './endpoints.ts'

let callers = 0

/** An address that no attack has used. */
export function newCaller(): string {
  callers += 1
  return `caller-${callers}`
}

/** A message from an address. */
export function by(caller: string, { body, headers }: Message): Message {
  return { body, headers: { ...headers, [callerHeader]: caller } }
}

/** Sends a message. Of an answer that streams only the head is awaited, and the stream stays open. */
export async function begin(peer: Attacker, message: Message, url: string): Promise<Reply> {
  const response = await peer.stream(message, url)
  const status = response.statusCode ?? 0
  if (response.headers['content-type']?.startsWith('text/event-stream') === true) return { status, body: {} }
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  const value: unknown = JSON.parse(text)
  return { status, body: isJsonObject(value) ? value : {} }
}

/** Throws unless the answer is a result. */
export function taken({ status, body }: Reply): void {
  const { result, error } = body
  const isFailure = error !== undefined || (isJsonObject(result) && result['isError'] === true)
  if (status === 200 && !isFailure) return
  throw new Error(`a valid request was rejected, with status ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}

/** Throws unless the answer names the limit, and the time after which the caller may try again. */
export function quotaReached(
  { status, body }: Reply,
  { name, limit, max }: { readonly name: string; readonly limit: string; readonly max: number },
): void {
  const { error } = body
  const data = (isJsonObject(error) && isJsonObject(error['data']) && error['data']) || {}
  const isNamed = data['reason'] === 'quota' && data['limit'] === limit && data['max'] === max
  if (status === 429 && isNamed && typeof data['retryAfterMs'] === 'number') return
  throw new Error(`more ${name} than ${max} were answered with ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}
