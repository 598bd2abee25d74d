import { isJsonObject } from '@x/schema'
import type { Message } from '../requests.ts'
import type { Attacker, Reply } from './attacker.ts'
import { callerHeader } from './endpoints.ts'

let callers = 0

/** Returns a caller address that no attack has used. */
export function newCaller(): string {
  callers += 1
  return `caller-${callers}`
}

/** Returns a message with a caller address. */
export function fromCaller(caller: string, { body, headers }: Message): Message {
  return { body, headers: { ...headers, [callerHeader]: caller } }
}

/** Sends a message. For a streamed response it waits only for the headers, and the stream stays open. */
export async function startRequest(peer: Attacker, message: Message, url: string): Promise<Reply> {
  const response = await peer.stream(message, url)
  const status = response.statusCode ?? 0
  if (response.headers['content-type']?.startsWith('text/event-stream') === true) return { status, body: {} }
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  const value: unknown = JSON.parse(text)
  return { status, body: isJsonObject(value) ? value : {} }
}

/** Throws unless the response is a result. */
export function expectResult({ status, body }: Reply): void {
  const { result, error } = body
  const isFailure = error !== undefined || (isJsonObject(result) && result['isError'] === true)
  if (status === 200 && !isFailure) return
  throw new Error(`a valid request was rejected, with status ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}

/** Throws unless the response is a quota error with the limit and the time of the next attempt. */
export function expectQuotaError(
  { status, body }: Reply,
  { name, limit, max }: { readonly name: string; readonly limit: string; readonly max: number },
): void {
  const { error } = body
  const data = (isJsonObject(error) && isJsonObject(error['data']) && error['data']) || {}
  const isNamed = data['reason'] === 'quota' && data['limit'] === limit && data['max'] === max
  if (status === 429 && isNamed && typeof data['retryAfterMs'] === 'number') return
  throw new Error(`${name} above the limit of ${max} returned status ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}
