import type { RpcRequest } from '@x/schema'
import { createEventDecoder, type HttpEventListener } from './event-stream.ts'
import { toHttpError } from './platform-error.ts'
import type { EndpointState } from './endpoint-state.ts'
import type { HttpHeaders, HttpResponseHead } from './options.ts'
import { reportStateOfFailure } from './report-state.ts'
import { mediaTypeOf, rejectCompressedBody } from './read-reply.ts'
import { readText } from './read-text.ts'
import { readFailure, type ResponseFailure, type StatusContext } from './error-status.ts'
import type { HttpMethod, IncomingResponse } from './sender.ts'

/** One HTTP request to the endpoint, other than an exchange of this revision. */
export interface HttpClientRequest {
  readonly method: HttpMethod
  /** Sent in addition to the media types, the user's headers and the authorizer's. */
  readonly headers?: HttpHeaders | undefined
  /** JSON text. */
  readonly body?: string | undefined
  /**
   * The JSON-RPC request in the body, or else the one that caused this HTTP request. The option `headers` gets it, if
   * it is a function.
   */
  readonly rpcRequest: RpcRequest
  /** Stops the request, even while the body of its response is read. */
  readonly signal: AbortSignal
  /** False if a 401 or 403 must not begin an authorization. Default true. */
  readonly mayAuthorize?: boolean | undefined
  /** True for a call, which may have to wait for others. At most 1,000 run at once. Default false. */
  readonly isCall?: boolean | undefined
}

/** What came back. You must read its body once, as a text or as events, or stop it. */
export interface HttpClientResponse extends HttpResponseHead {
  /** Media type of the body, in lower case and without parameters. */
  readonly type: string | undefined
  /** Reads the body as UTF-8. Rejects with an `HttpError` `too_large` if the body exceeds the limit for one message. */
  text(): Promise<string>
  /**
   * Reads the body as events until it ends. Rejects with an `HttpError` if the body exceeds a limit, and with what the
   * listener throws.
   */
  readEvents(listener: HttpEventListener): Promise<void>
  /** Reads what an unexpected status says. */
  readFailure(): Promise<ResponseFailure>
  stop(): void
}

/** A request's time limit also applies to the body of its response. */
export function createClientResponse(
  incomingResponse: IncomingResponse,
  { sender, states, endpoint, bounds }: EndpointState,
  {
    secrets,
    recordActivity,
    onEnd,
    getStopReason,
  }: Pick<StatusContext, 'secrets' | 'recordActivity'> & {
    readonly onEnd: () => void
    readonly getStopReason: () => { readonly reason: unknown } | undefined
  },
): HttpClientResponse {
  const { origin } = endpoint
  const mediaType = mediaTypeOf(incomingResponse.header('content-type'))
  const withReadErrors = async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      if (!sender.isContentDecoded) rejectCompressedBody(incomingResponse, origin)
      return await read()
    } catch (error) {
      const stopState = getStopReason()
      if (stopState !== undefined) throw stopState.reason
      const httpError = toHttpError(error, origin)
      reportStateOfFailure(states, httpError)
      throw httpError
    } finally {
      onEnd()
    }
  }
  return {
    status: incomingResponse.status,
    header: (name) => incomingResponse.header(name),
    type: mediaType,
    text: () => withReadErrors(() => readText(incomingResponse, bounds.bytes, { origin, recordActivity })),
    readEvents: (listener) =>
      withReadErrors(async () => {
        const decodeChunk = createEventDecoder({ origin, bounds, ...listener })
        await incomingResponse.read((chunk) => {
          recordActivity()
          decodeChunk(chunk)
        })
      }),
    readFailure: async () => {
      try {
        return await readFailure(incomingResponse, mediaType, { origin, secrets, recordActivity, bounds })
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
