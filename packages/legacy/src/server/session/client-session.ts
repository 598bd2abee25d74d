import { clientSessionKey, createCall, withContext } from '@x/exchange'
import type { Caller } from './deps.ts'

/**
 * Gives a caller's context the digest of its session. The session's key stays in this package, because only its owner
 * may answer questions. A client without a session has no digest.
 */
export function withClientSession({ principal, context }: Caller, sessionDigest: string | undefined): Caller {
  if (sessionDigest === undefined) return { principal, context }
  const call = createCall({ principal, context })
  return { principal, context: withContext(call, clientSessionKey, sessionDigest).context }
}
