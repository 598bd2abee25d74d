import { findPageOrigin, openAbortScope, platformRuntime } from '@x/core'

/** As much of `fetch` as this package uses. */
export type FetchFunction = (url: string, options: RequestInit) => Promise<Response>

/** A browser's `fetch` throws when it is called as a method of another object, so never call it as one. */
export const platformFetch: FetchFunction = (url, request) => globalThis.fetch(url, request)

/**
 * Fetches without credentials and without following redirects, and reads the whole body into memory. A redirect becomes
 * a response with status 3xx and no body. Rejects with the abort reason of `signal`, or with an `Error` whose message
 * names the origin.
 */
export async function boundedFetch(
  fetch: FetchFunction,
  url: string,
  { timeoutMs, maxBytes, ...request }: RequestInit & { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<Response> {
  const { origin } = new URL(url)
  const createTimeoutError = (): Error => new Error(`${origin} did not answer within ${timeoutMs} ms`)
  const scope = openAbortScope(request.signal ?? undefined, { timeoutMs, clock: platformRuntime, createTimeoutError })
  const options: RequestInit = { ...request, redirect: 'manual', credentials: 'omit', signal: scope.signal }
  const response = await fetchInMemory(() => fetch(url, options), maxBytes)
    .catch((cause: unknown) => {
      scope.signal.throwIfAborted()
      const page = findPageOrigin()
      const question = page === undefined ? '' : `; in a page: does it allow the origin ${page} (CORS)?`
      throw new Error(`${origin} could not be reached${question}`, { cause })
    })
    .finally(scope.close)
  if (response !== undefined) return response
  throw new Error(`${origin} answered with more than ${maxBytes} bytes`)
}

async function fetchInMemory(send: () => Promise<Response>, maxBytes: number): Promise<Response | undefined> {
  const response = await send()
  const { status, statusText, headers } = response
  if (isRedirectResponse(response)) {
    await response.body?.cancel()
    // A browser hides where a redirect leads, and reports it with status 0.
    const location = headers.get('location')
    return new Response(null, { status: status || 302, headers: location === null ? {} : { location } })
  }
  const body = await readBodyBytes(response, maxBytes)
  const hasNoBody = status === 204 || status === 205
  return body && new Response(hasNoBody ? null : body, { status, statusText, headers })
}

export function isRedirectResponse({ status }: Response): boolean {
  return status === 0 || (status >= 300 && status < 400)
}

async function readBodyBytes({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (
    let streamResult = await reader?.read();
    streamResult && !streamResult.done;
    streamResult = await reader?.read()
  ) {
    length += streamResult.value.byteLength
    if (length > maxBytes) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(streamResult.value)
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
