/** The headers, flat, of an event stream: not to be stored, nor held back by a proxy that buffers. */
export const eventStreamHeaders: readonly string[] = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-store',
  'X-Accel-Buffering',
  'no',
]

/** A comment, which readers ignore and which shows everyone on the way that the stream lives. */
export const keepAliveComment = ':\n\n'

/** The event that carries a message's JSON, which has no line break in it. */
export function encodeEvent(json: string): string {
  return `data: ${json}\n\n`
}
