/** Reads a body into memory; undefined when it is longer than `maxBytes`, and then the rest is not read. */
export async function readBounded({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    length += part.value.byteLength
    if (length > maxBytes) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(part.value)
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
