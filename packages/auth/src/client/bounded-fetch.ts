import { readBounded } from '../read-bounded.ts'
import { AuthError } from './auth-error.ts'

/** The part of `fetch` that is used. */
export type FetchFunction = (url: string, options: RequestInit) => Promise<Response>

const maxBytes = 65_536
/** The longest that metadata may take, in milliseconds. */
export const metadataMs = 5000
/** The longest that an endpoint of the authorization server may take, in milliseconds. */
export const endpointMs = 30_000

/** A request that is bounded in time. */
export interface BoundedRequest extends RequestInit {
  readonly timeoutMs: number
}

/**
 * Fetches without redirects, bounded in bytes and time, and returns the response with its body in memory. Throws
 * {@link AuthError} `server_unavailable` when no usable response came.
 */
export async function boundedFetch(fetch: FetchFunction, url: string, request: BoundedRequest): Promise<Response> {
  const { timeoutMs, ...init } = request
  const { origin } = new URL(url)
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', credentials: 'omit', signal })
    return await inMemory(response, origin)
  } catch (cause) {
    if (cause instanceof AuthError) throw cause
    if (init.signal?.aborted) throw init.signal.reason
    const why = timeout.aborted ? `did not answer within ${timeoutMs} ms` : 'could not be reached'
    throw new AuthError('server_unavailable', `${origin} ${why}`, { cause })
  }
}

async function inMemory(response: Response, origin: string): Promise<Response> {
  const { status, statusText, headers } = response
  // A browser hides where a redirect leads, and gives status 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    await response.body?.cancel()
    throw new AuthError('server_unavailable', `${origin} redirects, which is not followed here`)
  }
  const body = await readBounded(response, maxBytes)
  if (body === undefined) {
    throw new AuthError('server_unavailable', `${origin} answered with more than ${maxBytes} bytes`)
  }
  return new Response(hasNoBody(status) ? null : body, { status, statusText, headers })
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 205
}

/** A JSON object of which nothing is known yet. */
export type UnknownObject = { readonly [name: string]: unknown }

/** Reads a body that should be a JSON object; `undefined` when it is something else, such as a page. */
export async function readObject(response: Response): Promise<UnknownObject | undefined> {
  try {
    const value: unknown = JSON.parse(await response.text())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is UnknownObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The strings of a value that should be an array of them; `undefined` when it is none. */
export function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : undefined
}
