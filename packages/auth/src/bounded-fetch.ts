import { findPageOrigin } from '@x/core'

/** The part of the type of `fetch` that this package uses. */
export type FetchFunction = (url: string, options: RequestInit) => Promise<Response>

/**
 * Calls the global `fetch` of the platform. A caller must not call `globalThis.fetch` as a method of another object,
 * because the `fetch` of a browser then throws.
 */
export const platformFetch: FetchFunction = (url, request) => globalThis.fetch(url, request)

/**
 * Fetches without credentials and without following redirects. Returns the response with its whole body in memory. For
 * a redirect, returns a response with status 3xx and no body. Rejects with the abort reason of `signal`, or with an
 * `Error` whose message names the origin.
 */
export async function boundedFetch(
  fetch: FetchFunction,
  url: string,
  { timeoutMs, maxBytes, ...request }: RequestInit & { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<Response> {
  const { origin } = new URL(url)
  const timeoutSignal = AbortSignal.timeout(timeoutMs)
  const signal = request.signal ? AbortSignal.any([timeoutSignal, request.signal]) : timeoutSignal
  const options: RequestInit = { ...request, redirect: 'manual', credentials: 'omit', signal }
  const response = await fetchInMemory(() => fetch(url, options), maxBytes).catch((cause: unknown) => {
    if (request.signal?.aborted) throw request.signal.reason
    const page = findPageOrigin()
    const question = page === undefined ? '' : `; in a page: does it allow the origin ${page} (CORS)?`
    const problem = timeoutSignal.aborted ? `did not answer within ${timeoutMs} ms` : `could not be reached${question}`
    throw new Error(`${origin} ${problem}`, { cause })
  })
  if (response !== undefined) return response
  throw new Error(`${origin} answered with more than ${maxBytes} bytes`)
}

async function fetchInMemory(send: () => Promise<Response>, maxBytes: number): Promise<Response | undefined> {
  const response = await send()
  const { status, statusText, headers } = response
  if (isRedirectResponse(response)) {
    await response.body?.cancel()
    // A browser hides the target of a redirect, and reports the status 0 for the redirect.
    const location = headers.get('location')
    return new Response(null, { status: status || 302, headers: location === null ? {} : { location } })
  }
  const body = await readBodyBytes(response, maxBytes)
  const hasNoBody = status === 204 || status === 205
  return body && new Response(hasNoBody ? null : body, { status, statusText, headers })
}

/** Returns true if a response is a redirect. */
export function isRedirectResponse({ status }: Response): boolean {
  return status === 0 || (status >= 300 && status < 400)
}

/** Reads a body into memory. Returns undefined if the body is longer than `maxBytes`. */
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
