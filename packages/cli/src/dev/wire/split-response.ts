import type { IncomingMessage } from 'node:http'

/** A larger body or event fails, as it does for a client. */
const maxPartLength = 16 * 1024 * 1024

/**
 * Splits a response into its messages: one of JSON, or the events of a stream. The parts together are the whole body.
 * Each has its bytes, and the message in them if there is one.
 */
export async function* splitResponse(
  incoming: IncomingMessage,
): AsyncGenerator<{ readonly raw: Uint8Array; readonly text: string | undefined }> {
  const isStream = /^text\/event-stream\b/i.test(incoming.headers['content-type'] ?? '')
  incoming.setEncoding('utf8')
  let rest = ''
  for await (const chunk of incoming) {
    rest += String(chunk)
    if (rest.length > maxPartLength) throw new Error('The response is larger than 16 MiB')
    if (!isStream) continue
    const events = rest.split(/(?<=\n\n|\r\n\r\n|\r\r)/)
    rest = /(?:\n\n|\r\n\r\n|\r\r)$/.test(rest) ? '' : (events.pop() ?? '')
    for (const event of events) yield { raw: toBytes(event), text: dataOf(event) }
  }
  if (rest !== '') yield { raw: toBytes(rest), text: isStream ? dataOf(rest) : rest }
}

const encoder = new TextEncoder()

function toBytes(text: string): Uint8Array {
  return encoder.encode(text)
}

function dataOf(event: string): string | undefined {
  const lines = event.split(/\r\n|\r|\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
  const text = lines.map((line) => (line.startsWith(' ') ? line.slice(1) : line)).join('\n')
  return text === '' ? undefined : text
}
