import { type OAuth, oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import type { HttpAuthorizer } from '@x/transport-http/client'

const clientName = 'mcpx'

/** Milliseconds for a request that may wait for a login, which `oauth` ends after five minutes. */
export const loginTimeoutMs = 330_000

/** Returns the logins of `mcpx`. All its commands share them, in the folder `mcpx` of the user's configuration. */
export function createLogin(redirect = loopbackRedirect()): OAuth {
  return oauth({ client: { name: clientName }, redirect, store: fileStore(clientName) })
}

/**
 * Returns an authorizer that uses an earlier login, and begins none: nobody is there to answer it. Calls `onNeeded` if
 * there is no earlier login, and the server requires one.
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

/** Returns the access token that an authorizer has for a server. Undefined without a login. */
export async function readAccessToken(
  auth: Pick<HttpAuthorizer, 'headers'>,
  url: URL,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { authorization } = await auth.headers({ url, method: 'POST', signal })
  return authorization?.replace(/^Bearer /, '')
}
