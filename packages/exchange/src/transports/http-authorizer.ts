/** Header values by name. A header that the transport itself writes causes a `TypeError`. */
export type HttpHeaders = Readonly<Record<string, string>>

/** The request that an authorizer authorizes. Each attempt to send the request passes the same object. */
export interface HttpTarget {
  /** The endpoint, as the user passed it to the connection. */
  readonly url: URL
  /** The URL of the request, if it differs from the endpoint. */
  readonly requestUrl?: URL | undefined
  readonly method: string
  /** The MCP method, and the name or the URI of its target. Authorizers use it to count attempts. */
  readonly operation?: string | undefined
  /** Aborts when the connection is closed, so that an authorizer stops waiting. */
  readonly signal: AbortSignal
}

/** The status and the headers of a response. */
export interface HttpResponseHead {
  readonly status: number
  /**
   * Returns a header by its name in lower case. The challenges in several `WWW-Authenticate` lines are joined with
   * commas.
   */
  header(name: string): string | undefined
}

/**
 * Authorizes the requests of a connection (basic/authorization). If one of these functions throws an error, the call
 * rejects with it.
 */
export interface HttpAuthorizer {
  /** Returns the headers for one request. Called for each attempt to send it. */
  headers(target: HttpTarget): HttpHeaders | Promise<HttpHeaders>
  /**
   * Called with the status and the headers of each response before its body is used. Returns `'retry'` to send the
   * request again. This is safe after 401 and 403, because the server has not processed the request. A request is sent
   * at most four times.
   */
  onResponse(head: HttpResponseHead, target: HttpTarget): 'retry' | undefined | Promise<'retry' | undefined>
  /**
   * Calls a function when requests to an endpoint begin to wait for the login of a user, with an error that says which
   * login and has its page as `url`, and with undefined when they no longer wait. Calls it at once if they wait already.
   * Returns a function that removes it. The connection takes its state from this.
   */
  onLoginChange?(endpoint: URL, listener: (pendingLogin: Error | undefined) => void): () => void
}
