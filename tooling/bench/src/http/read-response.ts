/** A complete response, and the bytes that follow it. */
export interface ReadResponse {
  readonly status: number
  readonly body: string
  readonly rest: Buffer
}

const endOfHead = Buffer.from('\r\n\r\n')

/**
 * Reads one response of HTTP/1.1 from the start of a buffer. Returns undefined for an incomplete response.
 *
 * @throws Error for a response whose header has no length of the body.
 */
export function readResponse(bytes: Buffer): ReadResponse | undefined {
  const end = bytes.indexOf(endOfHead)
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const content = bytes.subarray(end + endOfHead.length)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) {
    const bodyLength = Number(length)
    if (content.length < bodyLength) return undefined
    return { status, body: content.toString('utf8', 0, bodyLength), rest: content.subarray(bodyLength) }
  }
  if (!/^transfer-encoding: *chunked/im.test(head)) throw new Error(`no length in the head of a response: ${head}`)
  const chunked = readChunks(content)
  return chunked === undefined ? undefined : { status, ...chunked }
}

function readChunks(content: Buffer): Omit<ReadResponse, 'status'> | undefined {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const endOfSize = content.indexOf('\r\n', at)
    if (endOfSize === -1) return undefined
    const size = Number.parseInt(content.toString('latin1', at, endOfSize), 16)
    const start = endOfSize + 2
    // A line break follows each chunk, also the last one, which is empty.
    if (content.length < start + size + 2) return undefined
    at = start + size + 2
    if (size === 0) return { body: Buffer.concat(chunks).toString(), rest: content.subarray(at) }
    chunks.push(content.subarray(start, start + size))
  }
}

/** Returns the message of a body: the body itself, or the last event of a stream. */
export function messageIn(body: string): string {
  if (body.startsWith('{')) return body
  const last = body.lastIndexOf('data: {')
  return last === -1 ? '{}' : body.slice(last + 'data: '.length)
}
