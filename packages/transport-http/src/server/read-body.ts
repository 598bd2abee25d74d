import { bodyCutShort, bodyTaken, bodyTooLarge, invalidText } from './refusal.ts'
import type { HttpRefusal } from './refusal.ts'

/** Reads a web request's body as UTF-8, and stops at the bound, whatever the `Content-Length` said. */
export async function readBody(request: Request, maxBytes: number): Promise<string | HttpRefusal> {
  if (request.bodyUsed) return bodyTaken
  if (Number(request.headers.get('content-length')) > maxBytes) return bodyTooLarge(maxBytes)
  if (request.body === null) return ''
  try {
    return await readStream(request.body, maxBytes)
  } catch {
    return bodyCutShort
  }
}

async function readStream(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<string | HttpRefusal> {
  const decode = createDecoder()
  const reader = stream.getReader()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    size += value?.byteLength ?? 0
    const more = size > maxBytes ? bodyTooLarge(maxBytes) : decode(value)
    if (typeof more !== 'string') {
      // Nobody waits for the rest, nor for what giving it up comes to.
      reader.cancel().catch(() => {})
      return more
    }
    text += more
    if (done) return text
  }
}

function createDecoder(): (bytes: Uint8Array | undefined) => string | HttpRefusal {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return (bytes) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch {
      return invalidText
    }
  }
}
