import { isJsonObject, type JsonObject, findMethodRow, type RpcResponse } from '@x/schema'
import { sessionKey, type SessionMetadata } from '../session-metadata.ts'
import { toIsoDateTime } from './create-session.ts'
import type { OpenedSession } from './opened-session.ts'

/**
 * Ends a request's use of a session, and puts the session into the `_meta` of the response. A complete result that is
 * no failure also has the state that the handler has set. An error has no session and changes no state.
 */
export async function finishSessionRequest(session: OpenedSession, response: RpcResponse): Promise<RpcResponse> {
  session.close()
  if ('error' in response) {
    await session.abandon()
    return response
  }
  const { result } = response
  const sealedState = await sealNewState(session, result)
  const metadata: SessionMetadata = {
    sessionId: session.id,
    expiresAt: toIsoDateTime(session.expiresAt),
    ...(sealedState !== undefined && { state: sealedState }),
  }
  return { ...response, result: addSessionMeta(result, { [sessionKey]: metadata }, session.method) }
}

async function sealNewState(session: OpenedSession, { resultType, isError }: JsonObject): Promise<string | undefined> {
  const isComplete = (resultType === undefined || resultType === 'complete') && isError !== true
  // Only a call that asks goes on with its session: a task has a copy, and changes no state.
  if (!isComplete && resultType !== 'input_required') await session.abandon()
  const draft = isComplete ? session.lastDraft : undefined
  return draft && session.seal(draft.value, session.revision + 1)
}

function addSessionMeta(result: JsonObject, sessionMeta: JsonObject, method: string): JsonObject {
  const meta = isJsonObject(result._meta) ? result._meta : {}
  const isShared = findMethodRow(method)?.isCacheable === true && result.cacheScope === 'public'
  return { ...result, ...(isShared && { cacheScope: 'private' }), _meta: { ...meta, ...sessionMeta } }
}
