import { type Exchange, isJsonObject, type RpcRequest, type RpcResponse, withHeader, wrapExchange } from '@x/schema'
import { sessionHeader, sessionIn, sessionKey, sessionNotFound } from '../session-metadata.ts'
import { SessionError } from './session-error.ts'
import { metadataOf, refuseEnded, type SessionRecord, update } from './session-state.ts'

/**
 * The exchange of one session: every request names it, with the state as it is then, and every answer may bring another state. A
 * session that the server does not find is over for good (seed data-layer-sessions, using sessions and errors).
 */
export function withinSession<E extends Exchange>(exchange: E, record: SessionRecord, onState: () => void): E {
  return wrapExchange(exchange, async (request, call) => {
    refuseEnded(record)
    const response = await exchange(naming(request, record), withHeader(call, sessionHeader, record.id))
    if ('error' in response) {
      if (isNotFound(response, record)) record.end ??= 'not_found'
      return response
    }
    const session = sessionIn(response.result)
    if (session === undefined) return response
    if ('issue' in session) throw new SessionError('invalid_answer', `The session of the answer ${session.issue}`)
    if (update(record, session)) onState()
    return response
  })
}

function naming(request: RpcRequest, record: SessionRecord): RpcRequest {
  const { params = {} } = request
  const meta = isJsonObject(params._meta) ? params._meta : {}
  return { ...request, params: { ...params, _meta: { ...meta, [sessionKey]: metadataOf(record) } } }
}

/** A server that stands behind another may speak of a session that is not this one. */
function isNotFound(response: RpcResponse, { id }: SessionRecord): boolean {
  if (!('error' in response) || response.error.code !== sessionNotFound) return false
  const { data } = response.error
  const named = isJsonObject(data) ? data.sessionId : undefined
  return typeof named !== 'string' || named === id
}
