import { type Clock, withTimeout } from '@x/core'
import {
  encodeMessage,
  isErrorResponse,
  metaKeys,
  parseMessage,
  protocolVersion,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { type HttpClient, type HttpClientResponse, HttpError, isHttpError } from '@x/transport-http/client'
import { createDiscoverRequest, type ProtocolEra, eraOf, isUndecidedStatus } from '../client/detect.ts'
import type { LegacySettings } from '../client/options.ts'
import { legacyRevisions } from '../revisions.ts'
import { metaIn } from '../translate/request.ts'
import { type LegacyHttpTransportOptions, readRpcResponse, readFailure } from './legacy-http-transport.ts'

/** Parameters of a step with a limit of time. */
interface TimeoutContext {
  readonly http: HttpClient
  readonly clock: Clock
  readonly settings: Pick<LegacySettings, 'handshakeTimeoutMs'>
}

/** The era of a server, or an answer that says nothing of it and is the answer of the call. */
export type EraDetection = { readonly era: ProtocolEra } | { readonly response: RpcError }

/**
 * Asks for `server/discover` as the client of this request (basic/versioning, backward compatibility). Rejects with an
 * `HttpError` where the answer says nothing of the server's era: authorization, limits, failures and missing
 * connections are no evidence.
 */
export function probeEra(context: TimeoutContext, request: RpcRequest): Promise<EraDetection> {
  const discoverMessage = createDiscoverRequest(request)
  return withRequestTimeout(context, 'server/discover', async (signal) => {
    const { http } = context
    const headers = { 'mcp-protocol-version': protocolVersionIn(discoverMessage), 'mcp-method': discoverMessage.method }
    const sendOptions = {
      method: 'POST',
      headers,
      body: encodeMessage(discoverMessage),
      rpcRequest: discoverMessage,
      signal,
    } as const
    const response = await http.send(sendOptions).catch((error: unknown) => ignoreBrowserFailure(error))
    if (response === undefined) return { era: 'legacy' }
    if (response.status >= 200 && response.status < 300)
      return readDiscoverResponse(context, response, { discoverRequest: discoverMessage, signal })
    const { text, error } = await readFailure(response)
    const parsedError = text === undefined ? undefined : parseRpcError(text, http)
    if (!isUndecidedStatus(response.status)) return { era: parsedError === undefined ? 'legacy' : eraOf(parsedError) }
    if (parsedError !== undefined) return { response: parsedError }
    throw error
  })
}

function protocolVersionIn({ params }: RpcRequest): string {
  const version = metaIn(params)[metaKeys.protocolVersion]
  return typeof version === 'string' ? version : protocolVersion
}

/**
 * A browser hides the refusal of a CORS preflight, as of a server whose lists are older than the headers, behind a bare
 * `TypeError`.
 */
function ignoreBrowserFailure(error: unknown): undefined {
  if (
    isHttpError(error) &&
    error.code === 'closed' &&
    error.cause instanceof TypeError &&
    error.cause.cause === undefined
  )
    return undefined
  throw error
}

async function readDiscoverResponse(
  { http, clock }: TimeoutContext,
  response: HttpClientResponse,
  { discoverRequest, signal }: { readonly discoverRequest: RpcRequest; readonly signal: AbortSignal },
): Promise<EraDetection> {
  const [revision] = legacyRevisions
  const transportOptions: LegacyHttpTransportOptions = {
    http,
    clock,
    revision,
    sessionId: undefined,
    maxStreamBytes: http.bounds.bytes,
    relatedRequest: discoverRequest,
  }
  const handlers = { onNotification: () => {}, onRequest: async () => undefined }
  try {
    const discoverResponse: RpcResponse = await readRpcResponse(transportOptions, response, {
      request: discoverRequest,
      signal,
      handlers,
    })
    return { era: eraOf(discoverResponse) }
  } catch (error) {
    if (isHttpError(error) && error.code === 'protocol') return { era: 'legacy' }
    throw error
  }
}

function parseRpcError(text: string, { bounds }: HttpClient): RpcError | undefined {
  try {
    const message = parseMessage(text, bounds)
    return isErrorResponse(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** Runs a step of a connection's own with a signal that aborts when its time is over, or with the connection. */
export function withRequestTimeout<T>(
  { http, clock, settings }: TimeoutContext,
  operation: string,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { handshakeTimeoutMs: ms } = settings
  const { origin } = new URL(http.url)
  const createTimeoutError = (): HttpError =>
    new HttpError('timeout', `no answer to ${operation} within ${ms} ms`, { origin })
  return withTimeout({ signal: http.closed, timeoutMs: ms, clock, createTimeoutError }, step)
}
