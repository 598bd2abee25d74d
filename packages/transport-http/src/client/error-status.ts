import type { RpcResponse } from '@x/schema'
import { findErrorResponse } from '@x/schema/internal'
import { HttpError } from './http-error.ts'
import { readText, requireMatchingId, type ReplyContext } from './read-text.ts'
import type { IncomingResponse } from './sender.ts'

const maxExcerptLength = 200
const maxExcerptBytes = 65_536

/**
 * Reads the JSON-RPC error in a response whose status is not 2xx; only servers of this revision send one there
 * (basic/transports/streamable-http, backward compatibility). Throws {@link HttpError} `status` for any other body.
 */
export async function readErrorReply(
  incomingResponse: IncomingResponse,
  mediaType: string | undefined,
  context: ReplyContext,
): Promise<RpcResponse> {
  const text = await readStatusText(incomingResponse, mediaType, context)
  const response = mediaType === 'application/json' ? findErrorResponse(text, context.bounds) : undefined
  if (response) return requireMatchingId(response, context)
  throw buildStatusError(incomingResponse, text, context)
}

/** How to read the body of a response that is not a JSON-RPC message. */
export type StatusContext = Pick<ReplyContext, 'origin' | 'secrets' | 'recordActivity' | 'bounds'>

/** Makes an {@link HttpError} `status` with the beginning of the body. */
export async function createStatusError(
  incomingResponse: IncomingResponse,
  mediaType: string | undefined,
  context: StatusContext,
): Promise<HttpError> {
  return buildStatusError(incomingResponse, await readStatusText(incomingResponse, mediaType, context), context)
}

function buildStatusError(
  incomingResponse: IncomingResponse,
  text: string,
  { origin, secrets }: StatusContext,
): HttpError {
  const { status } = incomingResponse
  const excerpt = redactExcerpt(text, secrets)
  const retryAfterMs = parseRetryAfter(incomingResponse.header('retry-after'))
  const excerptSuffix = excerpt === '' ? '' : `: ${excerpt}`
  return new HttpError('status', `answered ${status}${excerptSuffix}`, {
    origin,
    status,
    excerpt,
    retryAfterMs,
  })
}

async function readStatusText(
  incomingResponse: IncomingResponse,
  mediaType: string | undefined,
  context: StatusContext,
): Promise<string> {
  if (mediaType === 'text/event-stream') {
    incomingResponse.stop()
    return ''
  }
  const maxBytes = mediaType === 'application/json' ? context.bounds.bytes : maxExcerptBytes
  try {
    return await readText(incomingResponse, maxBytes, context)
  } catch {
    // Even if the body cannot be read, the error has the status.
    return ''
  }
}

// Removes the values of request headers, which a debugging proxy may return in its response.
function redactExcerpt(text: string, secrets: readonly string[]): string {
  let excerpt = text.slice(0, maxExcerptBytes)
  for (const secret of secrets) {
    for (const part of [secret, ...secret.split(' ')]) if (part.length > 3) excerpt = excerpt.replaceAll(part, '…')
  }
  return excerpt
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, maxExcerptLength)
}

function parseRetryAfter(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) * 1000 : undefined
}
