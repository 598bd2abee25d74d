import type { StoredEndpoint, StoredToken } from './stored.ts'
import type { TokenSource } from './token-source.ts'

/** The token of an endpoint, with the authorization server and the resource of the endpoint. */
export interface StoredCredential {
  readonly endpoint: StoredEndpoint
  readonly token: StoredToken
}

/** The tokens of endpoints, cached in memory. */
export interface StoredCredentials {
  /** Returns the token in memory. Does not read the store. */
  peek(endpoint: URL): StoredCredential | undefined
  /** Returns the token in memory. Reads the store once for each endpoint. */
  load(endpoint: URL): Promise<StoredCredential | undefined>
  /** Returns the authorization server and the resource of an endpoint, even if there is no token. */
  loadEndpoint(endpoint: URL): Promise<StoredEndpoint | undefined>
  /** Puts the token of an endpoint into memory, and writes the issuer and the resource of the endpoint to the store. */
  store(endpoint: URL, endpointFields: Omit<StoredEndpoint, 'requested'>, token: StoredToken): Promise<void>
  /** Remembers that an endpoint refuses tokens that are bound to a key. `logout` forgets it. */
  markDpopRefused(endpoint: URL): Promise<void>
  /**
   * Deletes the token of an endpoint from memory and from the store, also one that another process has stored. Returns
   * it.
   */
  forget(endpoint: URL): Promise<StoredCredential | undefined>
}

export function createStoredCredentials({
  records,
  isUsable,
}: Pick<TokenSource, 'records' | 'isUsable'>): StoredCredentials {
  const credentials = new Map<string, StoredCredential>()
  const pendingReads = new Map<string, Promise<StoredCredential | undefined>>()
  const toEndpointKey = ({ href }: URL): string => records.endpoints.toKey(href)

  const readCredential = async (url: URL): Promise<StoredCredential | undefined> => {
    const endpoint = await records.endpoints.read(toEndpointKey(url))
    if (endpoint === undefined) return undefined
    const token = await records.tokens.read(records.tokens.toKey(endpoint.issuer, endpoint.resource))
    const isUsableToken = token !== undefined && (await isUsable(token))
    if (isUsableToken && !credentials.has(url.href)) credentials.set(url.href, { endpoint, token })
    return credentials.get(url.href)
  }
  const getCredential = async (url: URL): Promise<StoredCredential | undefined> => {
    const { href } = url
    if (credentials.has(href)) return credentials.get(href)
    // The store is read once for each endpoint, so that requests to a server without authorization do not read it
    // again.
    const pendingRead = pendingReads.get(href) ?? readCredential(url)
    pendingReads.set(href, pendingRead)
    pendingRead.catch(() => pendingReads.delete(href))
    return pendingRead
  }
  return {
    peek: ({ href }) => credentials.get(href),
    load: getCredential,
    loadEndpoint: async (url) => credentials.get(url.href)?.endpoint ?? records.endpoints.read(toEndpointKey(url)),
    markDpopRefused: async (url) => {
      const endpoint = await records.endpoints.read(toEndpointKey(url))
      if (endpoint !== undefined) await records.endpoints.write(toEndpointKey(url), { ...endpoint, refusesDpop: true })
      credentials.delete(url.href)
      pendingReads.delete(url.href)
    },
    store: async (url, { issuer, resource, refusesDpop }, token) => {
      const endpoint = { issuer, resource, requested: token.requested, refusesDpop }
      await records.endpoints.write(toEndpointKey(url), endpoint)
      credentials.set(url.href, { endpoint, token })
    },
    forget: async (url) => {
      credentials.delete(url.href)
      pendingReads.delete(url.href)
      const endpoint = await records.endpoints.read(toEndpointKey(url))
      if (endpoint === undefined) return undefined
      const tokenKey = records.tokens.toKey(endpoint.issuer, endpoint.resource)
      const token = await records.tokens.read(tokenKey)
      await records.endpoints.remove(toEndpointKey(url))
      await records.tokens.remove(tokenKey)
      return token && { endpoint, token }
    },
  }
}
