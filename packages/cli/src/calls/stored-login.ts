import { AuthError, type OAuth, oauth, type Redirect } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import { isThisMachine, type JsonObject, parseJsonObject, platformRuntime, withTimeout } from '@x/core'
import type { HttpAuthorizer } from '@x/transport-http/client'

const clientName = 'mcpx'

/** For a request that may wait for a login, which `oauth` ends after five minutes. */
export const loginTimeoutMs = 330_000

/** All commands share their logins, in the folder `mcpx` of the user's configuration. */
export function createLogin(redirect = loopbackRedirect()): OAuth {
  return oauth({ client: { name: clientName }, redirect, store: fileStore(clientName) })
}

/** Thrown for a server of this machine that has another URL than the one that was written. Its logins are of that URL. */
export class OtherUrlError extends Error {
  override readonly name = 'OtherUrlError'
  readonly code = 'other_url'
  readonly url: URL

  constructor(url: URL) {
    super(`The server calls itself ${url.href}`)
    this.url = url
  }
}

/**
 * Returns an authorizer for the requests of a command. Without a terminal nobody is there to answer a login: each one
 * that would begin fails at once, and `onNeeded` learns the scopes that an earlier login lacks.
 */
export function createCommandLogin(
  isTerminal: boolean,
  onNeeded: (addedScopes: readonly string[]) => void,
): HttpAuthorizer {
  const auth = isTerminal ? createLogin() : createLogin(refuseLogins(onNeeded))
  return {
    ...auth,
    onResponse: async (head, target) => {
      if (head.status !== 401 || (await auth.headers(target))['authorization'] !== undefined)
        return auth.onResponse(head, target)
      const ownUrl = await findOwnUrl(target.url, target.signal)
      if (ownUrl !== undefined) throw new OtherUrlError(ownUrl)
      if (isTerminal) return auth.onResponse(head, target)
      onNeeded([])
      return undefined
    },
  }
}

function refuseLogins(onNeeded: (addedScopes: readonly string[]) => void): Redirect {
  return {
    ...loopbackRedirect(),
    open: async (_signal, options) => {
      const addedScopes = options?.addedScopes ?? []
      onNeeded(addedScopes)
      const purpose = addedScopes.length === 0 ? 'a new login' : `a login for ${addedScopes.join(' ')}`
      throw new AuthError('authorization_needed', `The server requires ${purpose}, and there is no terminal to ask at`)
    },
  }
}

const metadataTimeoutMs = 5000

/**
 * Finds the URL that a server of this machine gives as its own (RFC 9728), if it is another spelling of this one, such
 * as the name of this machine for its address. A token of one is never sent to the other, which may belong to another user.
 */
export async function findOwnUrl(url: URL, signal: AbortSignal): Promise<URL | undefined> {
  if (!isThisMachine(url.hostname)) return undefined
  const metadataUrl = new URL(`/.well-known/oauth-protected-resource${url.pathname}`, url)
  const metadata = await fetchResourceMetadata(metadataUrl, signal)
  const resource = metadata?.['resource']
  if (typeof resource !== 'string' || !URL.canParse(resource)) return undefined
  const own = new URL(resource)
  const { protocol, port, pathname } = url
  const isSpelling = own.protocol === protocol && own.port === port && own.pathname === pathname
  return isSpelling && own.hostname !== url.hostname && isThisMachine(own.hostname) ? own : undefined
}

/** Undefined if a server has none that can be read. */
export async function fetchResourceMetadata(url: URL, signal: AbortSignal): Promise<JsonObject | undefined> {
  const limit = {
    signal,
    timeoutMs: metadataTimeoutMs,
    clock: platformRuntime,
    createTimeoutError: () => new Error(`${url.origin} did not answer in time`),
  }
  return withTimeout(limit, async (scope) => {
    const response = await fetch(url, { redirect: 'error', signal: scope })
    return parseJsonObject(await response.text())
  }).catch(() => undefined)
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
