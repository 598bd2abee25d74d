import type { StoredEndpoint, StoredToken } from './stored.ts'
import type { TokenSource } from './token-source.ts'

/** An endpoint's token, with its authorization server and resource. */
export interface StoredCredential {
  readonly endpoint: StoredEndpoint
  readonly token: StoredToken
}

/** Tokens of endpoints, cached in memory. */
export class StoredCredentials {
  readonly #source: Pick<TokenSource, 'records' | 'isUsable'>
  // Bounded by the endpoints that the host connects to.
  readonly #credentials = new Map<string, StoredCredential>()
  // Bounded by the endpoints that the host connects to.
  readonly #pendingReads = new Map<string, Promise<StoredCredential | undefined>>()

  constructor(source: Pick<TokenSource, 'records' | 'isUsable'>) {
    this.#source = source
  }

  /** Does not read the store. */
  peek({ href }: URL): StoredCredential | undefined {
    return this.#credentials.get(href)
  }

  /** Reads the store once for each endpoint. */
  async load(url: URL): Promise<StoredCredential | undefined> {
    const { href } = url
    if (this.#credentials.has(href)) return this.#credentials.get(href)
    // Once for each endpoint, so that requests to a server without authorization do not read it again.
    const pendingRead = this.#pendingReads.get(href) ?? this.#read(url)
    this.#pendingReads.set(href, pendingRead)
    pendingRead.catch(() => this.#pendingReads.delete(href))
    return pendingRead
  }

  /** Known even if there is no token. */
  async loadEndpoint(url: URL): Promise<StoredEndpoint | undefined> {
    return this.peek(url)?.endpoint ?? this.#readEndpoint(url)
  }

  /** Puts an endpoint's token into memory, and writes its issuer and resource to the store. */
  async store(
    url: URL,
    { issuer, resource, refusesDpop }: Omit<StoredEndpoint, 'requested'>,
    token: StoredToken,
  ): Promise<void> {
    const endpoint = { issuer, resource, requested: token.requested, refusesDpop }
    await this.#writeEndpoint(url, endpoint)
    this.#credentials.set(url.href, { endpoint, token })
  }

  /** The endpoint refuses tokens that are bound to a key. `logout` forgets that. */
  async markDpopRefused(url: URL): Promise<void> {
    const endpoint = await this.#readEndpoint(url)
    if (endpoint !== undefined) await this.#writeEndpoint(url, { ...endpoint, refusesDpop: true })
    this.#drop(url)
  }

  /**
   * Deletes an endpoint's token from memory and from the store, also one that another process has stored. Returns it.
   */
  async forget(url: URL): Promise<StoredCredential | undefined> {
    const { endpoints, tokens } = this.#source.records
    this.#drop(url)
    const endpoint = await this.#readEndpoint(url)
    if (endpoint === undefined) return undefined
    const tokenKey = tokens.toKey(endpoint.issuer, endpoint.resource)
    const token = await tokens.read(tokenKey)
    await endpoints.remove(endpoints.toKey(url.href))
    await tokens.remove(tokenKey)
    return token && { endpoint, token }
  }

  #drop({ href }: URL): void {
    this.#credentials.delete(href)
    this.#pendingReads.delete(href)
  }

  #readEndpoint({ href }: URL): Promise<StoredEndpoint | undefined> {
    const { endpoints } = this.#source.records
    return endpoints.read(endpoints.toKey(href))
  }

  #writeEndpoint({ href }: URL, endpoint: StoredEndpoint): Promise<void> {
    const { endpoints } = this.#source.records
    return endpoints.write(endpoints.toKey(href), endpoint)
  }

  async #read(url: URL): Promise<StoredCredential | undefined> {
    const { records, isUsable } = this.#source
    const endpoint = await this.#readEndpoint(url)
    if (endpoint === undefined) return undefined
    const token = await records.tokens.read(records.tokens.toKey(endpoint.issuer, endpoint.resource))
    const isUsableToken = token !== undefined && (await isUsable(token))
    if (isUsableToken && !this.#credentials.has(url.href)) this.#credentials.set(url.href, { endpoint, token })
    return this.peek(url)
  }
}
