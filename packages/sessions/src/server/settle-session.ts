import { isJsonObject, type JsonObject, methodRow, type RpcResponse } from '@x/schema'
import { sessionKey, type SessionMetadata } from '../session-metadata.ts'
import { dateTime } from './create-session.ts'
import { type OpenedSession, sealState } from './opened-session.ts'

/**
 * The answer to a request of a session. A result names the session, whatever kind of result it is; with a complete one that is no failure
 * goes what the handler made of the state. An error changes nothing and names nothing.
 */
export async function settleSession(session: OpenedSession, response: RpcResponse): Promise<RpcResponse> {
  session.open = false
  if ('error' in response) {
    await abandon(session)
    return response
  }
  const { result } = response
  const state = await newState(session, result)
  const metadata: SessionMetadata = {
    sessionId: session.id,
    expiresAt: dateTime(session.expiresAt),
    ...(state !== undefined && { state }),
  }
  return { ...response, result: named(result, metadata, session.method) }
}

/** Gives back what a call that failed has claimed; a store that fails now lets the claim run out. */
export async function abandon(session: OpenedSession): Promise<void> {
  session.open = false
  const { claim, rules, method } = session
  session.claim = undefined
  if (claim === undefined) return
  try {
    await rules.store?.delete(claim)
  } catch (error) {
    rules.report(error, { method })
  }
}

async function newState(session: OpenedSession, { resultType, isError }: JsonObject): Promise<string | undefined> {
  if (isError === true) await abandon(session)
  const isComplete = (resultType === undefined || resultType === 'complete') && isError !== true
  const draft = isComplete ? session.run?.draft : undefined
  return draft && sealState(session, draft.value, session.revision + 1)
}

/** A result that names a session is nobody else's, so that no cache may share it. */
function named(result: JsonObject, metadata: SessionMetadata, method: string): JsonObject {
  const meta = isJsonObject(result._meta) ? result._meta : {}
  const isShared = methodRow(method)?.cached === true && result.cacheScope === 'public'
  return { ...result, ...(isShared && { cacheScope: 'private' }), _meta: { ...meta, [sessionKey]: metadata } }
}
