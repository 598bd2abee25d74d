import type { HttpAuthorizer, HttpResponseHead, HttpTarget } from '@x/transport-http/client'

/** A `fetch` that takes an address and options. */
export type AuthorizedFetch = (url: string | URL, options?: RequestInit) => Promise<Response>

/** Options of an authorized `fetch`. */
export interface AuthorizedFetchOptions {
  /**
   * The MCP endpoint whose login is used, on the same origin as the requests. Default: each address is one of its own.
   */
  readonly endpoint?: string | URL | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const maxAttempts = 4

/**
 * Returns a `fetch` whose requests an authorizer authorizes, for requests outside of a connection, such as downloads. A
 * body must not be a stream, because it may have to be sent again. Redirects are not followed, so that no token leaves
 * its server.
 *
 * Requests reject with a `TypeError` for another origin than the endpoint's, and with `AuthError` without a login.
 */
export function authorizedFetch(auth: HttpAuthorizer, options: AuthorizedFetchOptions = {}): AuthorizedFetch {
  const { endpoint, fetch = globalThis.fetch } = options
  const fixedEndpoint = endpoint === undefined ? undefined : new URL(endpoint)
  return async (address, request = {}) => {
    const url = new URL(address)
    checkRequest(url, request, fixedEndpoint)
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

function checkRequest(url: URL, { body }: RequestInit, endpoint: URL | undefined): void {
  if (body instanceof ReadableStream) throw new TypeError('A body that is a stream cannot be sent again')
  if (endpoint === undefined || url.origin === endpoint.origin) return
  throw new TypeError(`The login is for ${endpoint.origin} and not for ${url.origin}`)
}

function toResponseHead({ status, headers }: Response): HttpResponseHead {
  return { status, header: (name) => headers.get(name) ?? undefined }
}
