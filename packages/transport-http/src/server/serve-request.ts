import {
  encodeMessage,
  errorResponse,
  isMcpError,
  isRequest,
  parseRequestOrNotification,
  type RequestId,
  unreadRequestId,
} from '@x/schema'
import { admit } from './admit.ts'
import { matchHeaders } from './match-headers.ts'
import type { Answer } from './outlet.ts'
import { isRefusal, refuse } from './refusal.ts'
import { runCall } from './run-call.ts'
import type { HandlerContext } from './run-call.ts'
import { statusOf } from './status.ts'

/**
 * One HTTP request from its head to the start of its call, in the order of the specification
 * (basic/transports/streamable-http). Never rejects: whatever fails is answered.
 */
export async function serveRequest<Source, Target>(
  target: Target,
  context: HandlerContext<Source, Target>,
): Promise<void> {
  const { settings, platform } = context
  const view = platform.viewOf(target)
  let headers: readonly string[] = []
  let id: RequestId | undefined
  try {
    const admission = admit(view, settings)
    if ('answer' in admission) return platform.send(target, admission.answer)
    headers = admission.headers
    const principal = settings.principal === undefined ? undefined : await settings.principal(view)
    if (isRefusal(principal)) return platform.send(target, refuse(principal, headers))
    const text = await platform.readText(target, settings.bounds.bytes)
    if (typeof text !== 'string') return platform.send(target, refuse(text, headers))
    const message = parseRequestOrNotification(text, settings.bounds)
    if (isRequest(message)) id = message.id
    matchHeaders(view, message)
    if (isRequest(message)) runCall({ request: message, principal, view, target, headers }, context)
    else platform.send(target, { status: 202, headers })
  } catch (error) {
    if (!isMcpError(error)) settings.onError(error, view)
    platform.send(target, failure(error, id ?? unreadRequestId(error), headers))
  }
}

function failure(error: unknown, id: RequestId | undefined, headers: readonly string[]): Answer {
  const response = errorResponse(id, error)
  return { status: statusOf(response), headers, body: encodeMessage(response) }
}
