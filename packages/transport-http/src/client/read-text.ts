import { HttpError } from './http-error.ts'
import type { ReplyContext } from './reply-context.ts'
import type { Incoming } from './send.ts'

/** The text of a body, at most `limit` bytes of it; throws {@link HttpError} `too-large` or `protocol`. */
export async function readText(
  incoming: Incoming,
  limit: number,
  context: Pick<ReplyContext, 'origin' | 'touch'>,
): Promise<string> {
  const { origin } = context
  const tooLarge = (): HttpError =>
    new HttpError('too-large', `${origin}: the body is longer than ${limit} bytes`, { origin, status: incoming.status })
  if (Number(incoming.header('content-length') ?? 0) > limit) {
    incoming.stop()
    throw tooLarge()
  }
  const chunks: Uint8Array[] = []
  let length = 0
  await incoming.read((chunk) => {
    context.touch()
    length += chunk.byteLength
    if (length > limit) throw tooLarge()
    chunks.push(chunk)
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(concatChunks(chunks, length))
  } catch (cause) {
    throw new HttpError('protocol', `${origin}: the body is not UTF-8`, { origin, status: incoming.status, cause })
  }
}

function concatChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks
  if (chunks.length === 1 && first) return first
  const whole = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}
