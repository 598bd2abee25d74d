import type { StoredEndpoint, StoredToken } from './stored.ts'
import type { TokenSource } from './token-source.ts'

/** The authorization server and resource of an endpoint, with the token that is good for it. */
export interface HeldToken {
  readonly endpoint: StoredEndpoint
  readonly token: StoredToken
}

/** The tokens of endpoints, in memory over the store. */
export interface HeldTokens {
  /** Returns what is in memory. */
  peek(endpoint: URL): HeldToken | undefined
  /** Returns what is in memory, or was in the store when the endpoint was first asked about. */
  current(endpoint: URL): Promise<HeldToken | undefined>
  /** Returns the authorization server and resource of an endpoint, where a token is lacking as well. */
  lastKnown(endpoint: URL): Promise<StoredEndpoint | undefined>
  /** Remembers the token of an endpoint, which the store has. */
  keep(endpoint: URL, at: Pick<StoredEndpoint, 'issuer' | 'resource'>, token: StoredToken): Promise<void>
  /** Forgets the token of an endpoint, in the store as well. */
  forget(endpoint: URL): Promise<void>
}

export function createHeldTokens({ records, isUsable }: Pick<TokenSource, 'records' | 'isUsable'>): HeldTokens {
  const held = new Map<string, HeldToken>()
  const reading = new Map<string, Promise<HeldToken | undefined>>()
  const keyOf = ({ href }: URL): string => records.endpoints.key(href)

  const read = async (url: URL): Promise<HeldToken | undefined> => {
    const endpoint = await records.endpoints.read(keyOf(url))
    if (endpoint === undefined) return undefined
    const token = await records.tokens.read(records.tokens.key(endpoint.issuer, endpoint.resource))
    const isOurs = token !== undefined && (await isUsable(token))
    if (isOurs && !held.has(url.href)) held.set(url.href, { endpoint, token })
    return held.get(url.href)
  }
  const current = async (url: URL): Promise<HeldToken | undefined> => {
    const { href } = url
    if (held.has(href)) return held.get(href)
    // Once, so that requests to a server without authorization do not read the store.
    const started = reading.get(href) ?? read(url)
    reading.set(href, started)
    started.catch(() => reading.delete(href))
    return started
  }
  return {
    peek: ({ href }) => held.get(href),
    current,
    lastKnown: async (url) => held.get(url.href)?.endpoint ?? records.endpoints.read(keyOf(url)),
    keep: async (url, { issuer, resource }, token) => {
      const endpoint = { issuer, resource, requested: token.requested }
      await records.endpoints.write(keyOf(url), endpoint)
      held.set(url.href, { endpoint, token })
    },
    forget: async (url) => {
      const found = await current(url)
      held.delete(url.href)
      reading.delete(url.href)
      await records.endpoints.remove(keyOf(url))
      if (found) await records.tokens.remove(records.tokens.key(found.endpoint.issuer, found.endpoint.resource))
    },
  }
}
