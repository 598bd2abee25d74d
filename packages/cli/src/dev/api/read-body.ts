import type { IncomingMessage } from 'node:http'
import { type JsonObject, parseJsonObject } from '@x/core'

const maxBodyBytes = 4 * 1024 * 1024

/** A request of the page that cannot be served, with its status. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A command's body is an object. */
export async function readCommandBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > maxBodyBytes) throw new ApiError(413, `A body has at most ${maxBodyBytes} bytes`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  const body = text === '' ? {} : parseJsonObject(text)
  if (body === undefined) throw new ApiError(400, 'The body must be a JSON object')
  return body
}
