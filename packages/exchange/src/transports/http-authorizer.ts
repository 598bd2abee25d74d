/** Header values by name. A header that the transport itself writes causes a `TypeError`. */
export type HttpHeaders = Readonly<Record<string, string>>

/** What an authorizer authorizes. Each attempt to send the request passes the same object. */
export interface HttpTarget {
  /** Endpoint, as the user passed it to the connection. */
  readonly url: URL
  /** URL of the request, if it differs from the endpoint. */
  readonly requestUrl?: URL | undefined
  readonly method: string
  /** MCP method, and the name or the URI of its target, by which authorizers count attempts. */
  readonly operation?: string | undefined
  /** Aborts when the connection is closed, so that an authorizer stops waiting. */
  readonly signal: AbortSignal
}

/** Status and headers of a response. */
export interface HttpResponseHead {
  readonly status: number
  /** A header by its name in lower case. Several `WWW-Authenticate` lines are joined with commas. */
  header(name: string): string | undefined
}

/**
 * Authorizes the requests of a connection (basic/authorization). What one of these functions throws rejects the call.
 */
export interface HttpAuthorizer {
  /** Headers for one request. Called for each attempt to send it. */
  headers(target: HttpTarget): HttpHeaders | Promise<HttpHeaders>
  /**
   * Gets the status and the headers of each response before its body is used. Return `'retry'` to send the request
   * again; after 401 and 403 that is safe, because the server has not processed it. A request is sent at most four
   * times.
   */
  onResponse(head: HttpResponseHead, target: HttpTarget): 'retry' | undefined | Promise<'retry' | undefined>
  /**
   * Calls `listener` when requests to an endpoint begin to wait for a user's login, with an error that says which login
   * and has its page as `url`; and with undefined when they no longer wait. If they wait already, it is called at once.
   * The returned function removes it. The connection takes its state from this.
   */
  onLoginChange?(endpoint: URL, listener: (pendingLogin: Error | undefined) => void): () => void
}
