import { type Middleware, withHeader } from '@x/exchange'
import { isJsonObject, type RpcRequest, type RpcResponse } from '@x/schema'
import { metaIn } from '@x/schema/internal'
import { readSessionMetadata, sessionHeader, sessionKey, sessionNotFoundCode } from '../session-metadata.ts'
import { SessionError } from '../session-error.ts'
import type { SessionRecord } from './session-state.ts'

/**
 * Adds the session's id and current state to every request, and stores the new state of a response. If the server does
 * not know the session, it has ended for good (seed data-layer-sessions, using sessions and errors). `onStateChange` is
 * called when the server has changed the state.
 */
export function createClientSessionMiddleware(record: SessionRecord, onStateChange: () => void): Middleware {
  return (next) => async (request, call) => {
    record.rejectIfEnded()
    const response = await next(addSessionMetadata(request, record), withHeader(call, sessionHeader, record.id))
    if ('error' in response) {
      if (isNotFound(response, record)) record.end('not_found')
      return response
    }
    const metadata = readSessionMetadata(response.result)
    if (metadata === undefined) return response
    if ('issue' in metadata) throw new SessionError('invalid_answer', `The session of the answer ${metadata.issue}`)
    if (record.update(metadata)) onStateChange()
    return response
  }
}

function addSessionMetadata(request: RpcRequest, record: SessionRecord): RpcRequest {
  const { params = {} } = request
  return { ...request, params: { ...params, _meta: { ...metaIn(params), [sessionKey]: record.metadata } } }
}

/** An error with another session id is about a session that this server has with another server. */
function isNotFound(response: RpcResponse, { id }: SessionRecord): boolean {
  if (!('error' in response) || response.error.code !== sessionNotFoundCode) return false
  const { data } = response.error
  const namedSessionId = isJsonObject(data) ? data.sessionId : undefined
  return typeof namedSessionId !== 'string' || namedSessionId === id
}
