import type { SessionMetadata } from '../session-metadata.ts'
import { openSession, type SessionRequest } from './opened-session.ts'

/**
 * Deletes a session. It ends before `onDelete` runs, so that no call uses resources that are being freed. An error of
 * `onDelete` is reported and not answered: for the client the session is gone.
 */
export async function deleteSession(metadata: SessionMetadata, request: SessionRequest): Promise<void> {
  const { id, principal, caller, expiresAt, value, rules, report } = await openSession(metadata, {
    ...request,
    needsState: false,
  })
  await rules.ledger.end(id, Math.max(1, expiresAt - rules.now()), caller)
  try {
    await rules.end({ id, principal, state: value }, report)
  } catch (error) {
    report(error)
  }
}
