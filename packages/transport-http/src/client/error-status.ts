import { pageTextOf, toPrintableLine } from '@x/core'
import type { RpcError, RpcResponse } from '@x/schema'
import { findErrorResponse } from '@x/schema/internal'
import { HttpError } from './http-error.ts'
import { readText, requireMatchingId, type ReplyContext } from './read-text.ts'
import type { IncomingResponse } from './sender.ts'

/** Of an error page of a proxy, or a login page. */
const pageType = 'text/html'

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
  const { rpcError, error } = await readFailure(incomingResponse, mediaType, context)
  if (rpcError !== undefined) return requireMatchingId(rpcError, context)
  throw error
}

/** What an unexpected response says: an error with the beginning of its body, and the JSON-RPC error in it, if any. */
export interface ResponseFailure {
  readonly error: HttpError
  readonly rpcError: RpcError | undefined
}

export async function readFailure(
  incomingResponse: IncomingResponse,
  mediaType: string | undefined,
  context: StatusContext,
): Promise<ResponseFailure> {
  const text = await readStatusText(incomingResponse, mediaType, context)
  const rpcError = mediaType === 'application/json' ? findErrorResponse(text, context.bounds) : undefined
  return { error: buildStatusError(incomingResponse, mediaType, { ...context, text }), rpcError }
}

/** How to read the body of a response that is not a JSON-RPC message. */
export type StatusContext = Pick<ReplyContext, 'origin' | 'secrets' | 'recordActivity' | 'bounds'>

/**
 * Makes an {@link HttpError} with the beginning of the body: `status` for an error status, and `protocol` for a success
 * whose body is of another type than the protocol has.
 */
function buildStatusError(
  incomingResponse: IncomingResponse,
  mediaType: string | undefined,
  { origin, secrets, text }: StatusContext & { readonly text: string },
): HttpError {
  const { status } = incomingResponse
  const redactedText = redactSecrets(text, secrets)
  const excerpt = toPrintableLine(mediaType === pageType ? pageTextOf(redactedText) : redactedText, maxExcerptLength)
  const retryAfterMs = readRetryAfterMs(incomingResponse)
  const excerptSuffix = excerpt === '' ? '' : `: ${excerpt}`
  const details = { origin, status, excerpt, retryAfterMs }
  if (!isSuccess(incomingResponse)) return new HttpError('status', `answered ${status}${excerptSuffix}`, details)
  const message = `answered ${status}${describeForeignType(mediaType)}${excerptSuffix}`
  return new HttpError('protocol', message, details)
}

function isSuccess({ status }: IncomingResponse): boolean {
  return status >= 200 && status < 300
}

function describeForeignType(mediaType: string | undefined): string {
  const body = mediaType === undefined ? 'no body' : `a body of type ${mediaType.slice(0, 100)}`
  return ` with ${body} instead of application/json or text/event-stream`
}

async function readStatusText(
  incomingResponse: IncomingResponse,
  mediaType: string | undefined,
  context: StatusContext,
): Promise<string> {
  if (mediaType === 'text/event-stream' || (isSuccess(incomingResponse) && mediaType !== pageType)) {
    incomingResponse.stop()
    return ''
  }
  if (mediaType !== 'application/json') return readBeginning(incomingResponse, context)
  try {
    return await readText(incomingResponse, context.bounds.bytes, context)
  } catch {
    // Even if the body cannot be read, the error has the status.
    return ''
  }
}

/** Reads what an excerpt needs. The body may break off, or be longer. */
async function readBeginning(
  incomingResponse: IncomingResponse,
  { recordActivity }: Pick<StatusContext, 'recordActivity'>,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  const addChunk = (chunk: Uint8Array): void => {
    recordActivity()
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxExcerptBytes) throw new RangeError('The body is longer than its excerpt needs')
  }
  await incomingResponse.read(addChunk).catch(() => incomingResponse.stop())
  return text
}

// Removes the values of request headers, which a debugging proxy may return in its response.
function redactSecrets(text: string, secrets: readonly string[]): string {
  let redactedText = text.slice(0, maxExcerptBytes)
  for (const secret of secrets) {
    for (const part of [secret, ...secret.split(' ')])
      if (part.length > 3) redactedText = redactedText.replaceAll(part, '…')
  }
  return redactedText
}

/** In seconds, or a date by the sender's own clock (RFC 9110, section 10.2.3). */
function readRetryAfterMs({ header }: IncomingResponse): number | undefined {
  const value = header('retry-after')
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const delayMs = Date.parse(value) - Date.parse(header('date') ?? '')
  return delayMs >= 0 ? delayMs : undefined
}
