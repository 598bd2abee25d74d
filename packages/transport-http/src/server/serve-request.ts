import { isPromiseLike } from '@x/core'
import { createCall, type HttpErrorHead, type HttpProtocolAdapter, type ServerEvents } from '@x/exchange'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  isMcpError,
  isRequest,
  parseRequestOrNotification,
  type RequestId,
  type RpcNotification,
  rejectedRequestIdOf,
  type WireError,
} from '@x/schema'
import { type AcceptedRequest, handToAdapter } from './adapter-request.ts'
import { checkPrincipal } from './auth.ts'
import {
  createArrivingBody,
  createAuthenticationContext,
  createClientContext,
  createUnreadCounter,
} from './call-context.ts'
import { checkHeadersMatchBody, checkRequest, methodNotAllowedResponse } from './check-request.ts'
import type { RequestView } from './http-adapter.ts'
import { createErrorAnswer, isHttpErrorResponse, statusOf } from './reply.ts'
import { type HandlerContext, runHttpCall } from './run-call.ts'

/**
 * Serves one HTTP request from its head to the start of its call, with the checks in the order of the specification
 * (basic/transports/streamable-http). Never rejects, because every error is answered.
 */
export async function serveRequest<Source, Target>(
  target: Target,
  context: HandlerContext<Source, Target>,
): Promise<void> {
  const { server, settings, httpAdapter } = context
  const view = httpAdapter.createRequestView(target)
  const answerState: AnswerState = { headers: [], id: undefined }
  try {
    const adapter = server.adapters.http
    const matchedAdapter = adapter?.matches(view) === true ? adapter : undefined
    const requestCheckResult = checkRequest(view, settings, matchedAdapter?.methods)
    if ('answer' in requestCheckResult) {
      const { answer, refusal } = requestCheckResult
      if (refusal !== undefined) emitHttpRefusal(context, refusal, answer.status)
      return httpAdapter.send(target, answer)
    }
    const { headers } = requestCheckResult
    answerState.headers = headers
    const authentication = settings.authenticate?.(view, createAuthenticationContext(view, context))
    // No `await` if the principal is known synchronously, which saves a turn of the microtask queue.
    const principal = isPromiseLike(authentication) ? await authentication : authentication
    if (isHttpErrorResponse(principal)) {
      emitHttpRefusal(context, 'authentication', principal.status)
      return httpAdapter.send(target, createErrorAnswer(principal, headers))
    }
    checkPrincipal(principal)
    await serveBody({ target, view, principal, headers }, matchedAdapter, answerState, context)
  } catch (error) {
    failRequest(error, answerState, context, { target, view })
  }
}

function emitHttpRefusal(
  { server }: Pick<HandlerContext<never, never>, 'server'>,
  reason: ServerEvents['request_refused']['reason'],
  status: number,
): void {
  server.emit?.({ type: 'request_refused', transport: 'http', status, reason })
}

interface AnswerState {
  headers: readonly string[]
  id: RequestId | undefined
}

async function serveBody<Source, Target>(
  request: Omit<AcceptedRequest<Source, Target>, 'bodyText'>,
  matchedAdapter: HttpProtocolAdapter | undefined,
  answerState: AnswerState,
  context: HandlerContext<Source, Target>,
): Promise<void> {
  const { httpAdapter, server, settings } = context
  const { target, view, principal, headers } = request
  const caller = { principal, view, settings }
  httpAdapter.countUnread?.(target, createUnreadCounter(server.ledger, caller))
  const arrivingBody = createArrivingBody(server.ledger, caller, settings.bounds.bytes)
  try {
    // An HTTP method that only an adapter handles has no body.
    const bodyText = view.method === 'POST' ? await httpAdapter.readText(target, arrivingBody) : ''
    if (typeof bodyText !== 'string') {
      emitHttpRefusal(context, bodyText.status === 413 ? 'size' : 'syntax', bodyText.status)
      return httpAdapter.send(target, createErrorAnswer(bodyText, headers))
    }
    const acceptedRequest = { ...request, bodyText }
    if (matchedAdapter !== undefined) {
      const isHandled = handToAdapter(acceptedRequest, matchedAdapter, context)
      // Released now, because the adapter has parsed the body, and its promise may last as long as the call.
      arrivingBody.release()
      if (await isHandled) return
    }
    serveMessageText(acceptedRequest, answerState, context)
  } finally {
    arrivingBody.release()
  }
}

function serveMessageText<Source, Target>(
  { target, view, bodyText, principal, headers }: AcceptedRequest<Source, Target>,
  answerState: AnswerState,
  context: HandlerContext<Source, Target>,
): void {
  const { httpAdapter, settings } = context
  if (view.method !== 'POST')
    return httpAdapter.send(
      target,
      createErrorAnswer(methodNotAllowedResponse(view, ['POST'], settings.supportedVersions), headers),
    )
  const message = parseRequestOrNotification(bodyText, settings.bounds)
  if (isRequest(message)) answerState.id = message.id
  checkHeadersMatchBody(view, message, settings.supportedVersions)
  if (isRequest(message)) runHttpCall({ request: message, principal, view, target, headers }, context)
  else deliverNotification(message, { principal, view, target, headers }, context)
}

function failRequest<Source, Target>(
  error: unknown,
  { headers, id }: AnswerState,
  context: HandlerContext<Source, Target>,
  { target, view }: { readonly target: Target; readonly view: RequestView<Source> },
): void {
  if (!isMcpError(error)) context.settings.onError(error, view)
  const response = errorResponse(id ?? rejectedRequestIdOf(error), error)
  const errorHead = findErrorHead(response.error, view, context)
  const addedHeaders = Object.entries(errorHead?.headers ?? {}).flat()
  // Before the exchange was called, an error is a failure of HTTP and not of JSON-RPC, so it has an error status.
  const status = errorHead?.status ?? (isMcpError(error) ? statusOf(response) : 500)
  if (isMcpError(error))
    emitHttpRefusal(context, error.code === errorCodes.headerMismatch ? 'headers' : 'syntax', status)
  context.httpAdapter.send(target, { status, headers: [...headers, ...addedHeaders], body: encodeMessage(response) })
}

// The application's function may throw. That must not end the program, and no caller of this function would catch it.
function findErrorHead<Source>(
  error: WireError,
  view: RequestView<Source>,
  { settings, server }: Pick<HandlerContext<Source, never>, 'settings' | 'server'>,
): HttpErrorHead | undefined {
  try {
    return settings.toHttpError?.(error, { request: undefined, principal: undefined, log: server.log })
  } catch (failure) {
    settings.onError(failure, view)
    return undefined
  }
}

/** Accepts a notification at once, and passes it to the extensions with the context of its request. */
function deliverNotification<Source, Target>(
  message: RpcNotification,
  { principal, view, target, headers }: Omit<AcceptedRequest<Source, Target>, 'bodyText'>,
  { httpAdapter, server, settings }: HandlerContext<Source, Target>,
): void {
  httpAdapter.send(target, { status: 202, headers })
  try {
    const context = createClientContext(settings.clientAddress?.(view))
    server.receive(message, createCall({ principal, context }))
  } catch (error) {
    settings.onError(error, view)
  }
}
