import type { RpcRequest } from '@x/schema'
import { createEventDecoder, type HttpEventListener } from './event-stream.ts'
import { toHttpError } from './platform-error.ts'
import type { EndpointState } from './endpoint-state.ts'
import type { HttpHeaders, HttpResponseHead } from './options.ts'
import { mediaTypeOf, rejectCompressedBody } from './read-reply.ts'
import { readText } from './read-text.ts'
import { createStatusError } from './error-status.ts'
import type { HttpMethod, IncomingResponse } from './sender.ts'

/** One HTTP request to the endpoint of a client. */
export interface HttpClientRequest {
  readonly method: HttpMethod
  /** Headers beside the media types and those of the user and the authorizer. */
  readonly headers?: HttpHeaders | undefined
  /** A JSON text. */
  readonly body?: string | undefined
  /** The message that it carries or is about: option functions are asked with it. */
  readonly rpcRequest: RpcRequest
  /** Stops the request, or the reading of its response. */
  readonly signal: AbortSignal
  /** False for a request whose 401 or 403 is its answer: it begins no authorization. Default true. */
  readonly mayAuthorize?: boolean | undefined
}

/** The response to one request. Its body is read once, as a whole or as events, or stopped. */
export interface HttpClientResponse extends HttpResponseHead {
  /** The media type of the body in lower case, without parameters. */
  readonly type: string | undefined
  /** Reads the body as UTF-8. Throws an `HttpError` `too_large` past the bounds of a message. */
  text(): Promise<string>
  /** Reads the body as events until it ends. Throws an `HttpError` past a bound, and what a listener throws. */
  readEvents(listener: HttpEventListener): Promise<void>
  /** Reads the beginning of the body, and gives the error for a status that is no answer. */
  readError(): Promise<Error>
  stop(): void
}

interface ResponseContext {
  readonly endpointState: EndpointState
  readonly secrets: readonly string[]
  readonly recordActivity: () => void
  /** Called when the body has ended or is not wanted. */
  readonly onEnd: () => void
  /** Reason for which the request was stopped, if it was. */
  readonly getStopReason: () => { readonly reason: unknown } | undefined
}

/** A response whose body is still watched over. */
export function createClientResponse(incomingResponse: IncomingResponse, context: ResponseContext): HttpClientResponse {
  const { endpointState, secrets, recordActivity, onEnd, getStopReason } = context
  const { origin } = endpointState.endpoint
  const mediaType = mediaTypeOf(incomingResponse.header('content-type'))
  const withReadErrors = async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      if (!endpointState.sender.isContentDecoded) rejectCompressedBody(incomingResponse, origin)
      return await read()
    } catch (error) {
      const stopState = getStopReason()
      throw stopState === undefined ? toHttpError(error, origin) : stopState.reason
    } finally {
      onEnd()
    }
  }
  return {
    status: incomingResponse.status,
    header: (name) => incomingResponse.header(name),
    type: mediaType,
    text: () =>
      withReadErrors(() => readText(incomingResponse, endpointState.bounds.bytes, { origin, recordActivity })),
    readEvents: (listener) =>
      withReadErrors(async () => {
        const decodeChunk = createEventDecoder({ origin, bounds: endpointState.bounds, ...listener })
        await incomingResponse.read((chunk) => {
          recordActivity()
          decodeChunk(chunk)
        })
      }),
    readError: async () => {
      try {
        return await createStatusError(incomingResponse, mediaType, {
          origin,
          secrets,
          recordActivity,
          bounds: endpointState.bounds,
        })
      } finally {
        onEnd()
      }
    },
    stop: () => {
      onEnd()
      incomingResponse.stop()
    },
  }
}
