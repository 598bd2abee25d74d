import type { SessionMetadata } from '../session-metadata.ts'
import { openSession, type SessionRequest } from './opened-session.ts'

/**
 * Deletes a session. It is over before what belongs to it is freed, so that no call can use what is being freed; what fails there is
 * told to the author, because for the client the session is gone.
 */
export async function deleteSession(metadata: SessionMetadata, request: SessionRequest): Promise<void> {
  const { id, principal, expiresAt, value, rules, method } = await openSession(metadata, request)
  const report = (error: unknown): void => rules.report(error, { method })
  await rules.ledger.end(id, Math.max(1, expiresAt - rules.now()))
  try {
    await rules.end({ id, principal, state: value }, report)
  } catch (error) {
    report(error)
  }
}
