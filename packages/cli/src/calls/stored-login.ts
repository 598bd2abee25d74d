import { type OAuth, oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import type { HttpAuthorizer } from '@x/transport-http/client'

const clientName = 'mcpx'

/** For a request that may wait for a login, which `oauth` ends after five minutes. */
export const loginTimeoutMs = 330_000

/** All commands share their logins, in the folder `mcpx` of the user's configuration. */
export function createLogin(redirect = loopbackRedirect()): OAuth {
  return oauth({ client: { name: clientName }, redirect, store: fileStore(clientName) })
}

/**
 * Uses an earlier login, and begins none, because no person would answer it. Calls `onNeeded` if the server requires
 * one that is not there.
 */
export function withoutNewLogins(auth: OAuth, onNeeded: () => void): HttpAuthorizer {
  return {
    headers: auth.headers,
    onResponse: async (head, target) => {
      if ((await auth.headers(target))['authorization'] !== undefined) return auth.onResponse(head, target)
      if (head.status === 401) onNeeded()
      return undefined
    },
  }
}

/** Undefined without a login. */
export async function readAccessToken(
  auth: Pick<HttpAuthorizer, 'headers'>,
  url: URL,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { authorization } = await auth.headers({ url, method: 'POST', signal })
  return authorization?.replace(/^Bearer /, '')
}
