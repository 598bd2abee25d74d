import type { JsonValue } from '@x/schema'
import type { SessionMetadata } from '../session-metadata.ts'
import { type OpenedSession, createOpenedSession, type SessionRequest } from './opened-session.ts'

/** If the creation fails or is cancelled, the session is ended again, because no client would delete it. */
export async function createSealedSession(request: SessionRequest, signal: AbortSignal): Promise<SessionMetadata> {
  const { registry, begin, ttlMs } = request.sessionOptions
  const session = await createOpenedSession(request)
  const { id, expiresAt, principal } = session
  await registry.add(id, ttlMs, request.callerKey)
  let state: JsonValue | undefined
  let hasBegun = false
  try {
    const readFirstState = await begin({ id, expiresAt, principal, signal })
    hasBegun = true
    state = readFirstState()
    const sealedState = state === undefined ? undefined : await session.seal(state, 0)
    signal.throwIfAborted()
    return {
      sessionId: id,
      expiresAt: toIsoDateTime(expiresAt),
      ...(sealedState !== undefined && { state: sealedState }),
    }
  } catch (error) {
    await undoCreation(session, hasBegun ? { state } : undefined)
    throw error
  }
}

export function toIsoDateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

async function undoCreation(
  session: OpenedSession,
  begunSession: { readonly state: JsonValue | undefined } | undefined,
): Promise<void> {
  const { id, principal, callerKey, sessionOptions, report } = session
  await sessionOptions.registry.end(id, sessionOptions.ttlMs, callerKey).catch(report)
  if (begunSession !== undefined) {
    await sessionOptions.end({ id, principal, state: begunSession.state }, report).catch(report)
  }
}
