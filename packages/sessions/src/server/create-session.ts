import type { JsonValue } from '@x/schema'
import type { SessionMetadata } from '../session-metadata.ts'
import { type OpenedSession, sealId, sealState, type SessionRequest } from './opened-session.ts'

/**
 * Creates a session, and what belongs to it. One that cannot be made whole, or for which nobody waits any more, is taken back: nobody
 * would ever delete it.
 */
export async function createSession(request: SessionRequest, signal: AbortSignal): Promise<SessionMetadata> {
  const { ledger, begin, ttlMs } = request.rules
  const session = await sealId(request)
  const { id, expiresAt, principal } = session
  await ledger.admit(id, ttlMs)
  let state: JsonValue | undefined
  let isBegun = false
  try {
    state = await begin({ id, expiresAt, principal, signal })
    isBegun = true
    const sealed = state === undefined ? undefined : await sealState(session, state, 0)
    signal.throwIfAborted()
    return { sessionId: id, expiresAt: dateTime(expiresAt), ...(sealed !== undefined && { state: sealed }) }
  } catch (error) {
    await takeBack(session, isBegun ? { state } : undefined)
    throw error
  }
}

/** A time as metadata has it. */
export function dateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

async function takeBack(
  session: OpenedSession,
  begun: { readonly state: JsonValue | undefined } | undefined,
): Promise<void> {
  const { id, principal, rules, method } = session
  const report = (error: unknown): void => rules.report(error, { method })
  try {
    await rules.ledger.end(id, rules.ttlMs)
    if (begun !== undefined) await rules.end({ id, principal, state: begun.state }, report)
  } catch (error) {
    report(error)
  }
}
