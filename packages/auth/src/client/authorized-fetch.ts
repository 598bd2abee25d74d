import type { HttpAuthorizer, HttpResponseHead, HttpTarget } from '@x/transport-http/client'

/** A `fetch` that accepts a URL and options. */
export type AuthorizedFetch = (url: string | URL, options?: RequestInit) => Promise<Response>

/** Options of {@link authorizedFetch}. */
export interface AuthorizedFetchOptions {
  /**
   * MCP endpoint whose login authorizes the requests, all of which must have its origin. By default each requested URL
   * is its own endpoint.
   */
  readonly endpoint?: string | URL | undefined
  /** Sends the requests. Default: the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const maxAttempts = 4

/**
 * Wraps `fetch` so that an authorizer authorizes each request. It is for requests outside of a connection, such as
 * downloads. A body must not be a stream, because a request may be sent more than once. Redirects are not followed, or
 * a token could reach another server.
 *
 * A request rejects with a `TypeError` if its origin is not that of `endpoint`, and with an `AuthError` if the login
 * fails.
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
