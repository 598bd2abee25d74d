import type { HttpAuthorizer, HttpResponseHead, HttpTarget } from '@x/transport-http/client'

/** A `fetch` that accepts a URL and options. */
export type AuthorizedFetch = (url: string | URL, options?: RequestInit) => Promise<Response>

/** Options of {@link authorizedFetch}. */
export interface AuthorizedFetchOptions {
  /**
   * The MCP endpoint whose login authorizes the requests. All requests must have the origin of this endpoint. By
   * default each requested URL is its own endpoint.
   */
  readonly endpoint?: string | URL | undefined
  /** The function that sends the requests. Default: the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const maxAttempts = 4

/**
 * Returns a `fetch` whose requests an authorizer authorizes. It is for requests outside of a connection, such as
 * downloads. The body of a request must not be a stream, because the request may be sent more than once. Redirects are
 * not followed, so that no token is sent to another server.
 *
 * A request rejects with a `TypeError` if its origin differs from the origin of `endpoint`, and with an `AuthError` if
 * the login fails.
 */
export function authorizedFetch(auth: HttpAuthorizer, options: AuthorizedFetchOptions = {}): AuthorizedFetch {
  const { endpoint, fetch = globalThis.fetch } = options
  const fixedEndpoint = endpoint === undefined ? undefined : new URL(endpoint)
  return async (address, request = {}) => {
    const url = new URL(address)
    checkSendable(url, request, fixedEndpoint)
    const { method = 'GET', signal } = request
    const operation = `${method} ${url.pathname}`
    const targetFields = { url: fixedEndpoint ?? url, requestUrl: url, method, operation }
    const target: HttpTarget = { ...targetFields, signal: signal ?? new AbortController().signal }
    for (let attempt = 1; ; attempt += 1) {
      const headers = new Headers(request.headers)
      for (const [name, value] of Object.entries(await auth.headers(target))) headers.set(name, value)
      const response = await fetch(url, { ...request, headers, redirect: 'manual' })
      const decision = await auth.onResponse(toResponseHead(response), target)
      if (decision !== 'retry' || attempt === maxAttempts) return response
      await response.body?.cancel()
    }
  }
}

function checkSendable(url: URL, { body }: RequestInit, endpoint: URL | undefined): void {
  if (body instanceof ReadableStream) throw new TypeError('A body that is a stream cannot be sent again')
  if (endpoint === undefined || url.origin === endpoint.origin) return
  throw new TypeError(`The login is for ${endpoint.origin} and not for ${url.origin}`)
}

function toResponseHead({ status, headers }: Response): HttpResponseHead {
  return { status, header: (name) => headers.get(name) ?? undefined }
}
