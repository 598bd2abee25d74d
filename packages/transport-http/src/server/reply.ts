import { encodeMessage, encodePieces, type RpcNotification, type RpcResponse } from '@x/schema'
import { encodeEvent, eventStreamHeaders, keepAliveComment } from './event-stream.ts'
import type { ResponseWriter } from './response-writer.ts'
import { isHandOff, retryAfterHeaders } from './load.ts'
import { statusOf } from './status.ts'

/** The answer to one request while it is being made: plain JSON, unless something has to be said before the end. */
export interface Reply<Target = unknown> {
  readonly writer: ResponseWriter<Target>
  readonly target: Target
  /** Headers, flat, that go out whatever form the answer takes. */
  headers: readonly string[]
  readonly maxQueuedBytes: number
  phase: 'waiting' | 'streaming' | 'ended'
}

/**
 * Sends a notification; the first one makes the answer a stream. False when the reader is so slow that the notification
 * had to be dropped. After the answer has ended it does nothing.
 */
export function sendNotification(reply: Reply, message: RpcNotification): boolean {
  if (reply.phase === 'ended') return true
  const event = encodeEvent(encodeMessage(message))
  startStream(reply)
  // Characters stand in for bytes here: the bound is there to save memory, not to be met exactly.
  const { writer, target, maxQueuedBytes } = reply
  if (writer.queued(target) + event.length > maxQueuedBytes) return false
  writer.write(target, event)
  return true
}

/**
 * Sends the response and ends the answer. `status` is for an answer that is still plain JSON.
 *
 * @throws TypeError for a response that is no JSON, such as a cycle; nothing was sent then.
 */
export function sendResponse(reply: Reply, response: RpcResponse, status = statusOf(response)): void {
  if (reply.phase === 'ended') return
  const { phase, writer, target, headers } = reply
  if (phase === 'streaming') {
    const event = encodeEvent(encodeMessage(response))
    reply.phase = 'ended'
    writer.end(target, event)
    return
  }
  const body = encodePieces(response) ?? encodeMessage(response)
  reply.phase = 'ended'
  writer.send(target, { status, headers: withRetryAfter(headers, response), body, closes: isHandOff(response) })
}

/** Has a header go out with the answer, in the place of an earlier one of that name; nothing once the head has been sent. */
export function setReplyHeader(reply: Reply, name: string, value: string): void {
  if (reply.phase !== 'waiting') return
  const at = reply.headers.findIndex((known, index) => index % 2 === 0 && known.toLowerCase() === name.toLowerCase())
  const others = at < 0 ? reply.headers : reply.headers.toSpliced(at, 2)
  reply.headers = [...others, name, value]
}

/** Shows that the call is still running, unless there are bytes waiting that show it as well. */
export function sendKeepAlive(reply: Reply): void {
  if (reply.phase === 'ended') return
  startStream(reply)
  const { writer, target } = reply
  if (writer.queued(target) === 0) writer.write(target, keepAliveComment)
}

/** Gives the answer up: nothing more is sent for it (basic/transports/streamable-http, cancellation). */
export function abandonReply(reply: Reply): void {
  reply.phase = 'ended'
}

function startStream(reply: Reply): void {
  if (reply.phase !== 'waiting') return
  reply.phase = 'streaming'
  const { writer, target, headers } = reply
  writer.open(target, headers.length === 0 ? eventStreamHeaders : [...eventStreamHeaders, ...headers])
}

function withRetryAfter(headers: readonly string[], response: RpcResponse): readonly string[] {
  const seconds = retryAfterHeaders(response)?.afterSeconds
  return seconds === undefined ? headers : ['Retry-After', String(seconds), ...headers]
}
