import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import { AzureDevOpsError } from './azure-devops-error.ts'
import { type Answer, failureOf } from './failure.ts'

/** One call of the REST API. */
export interface RestCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  /** The body, sent as JSON. */
  readonly body?: unknown
  /** The media type of `body`. Default: `application/json`. */
  readonly contentType?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Sends one call and resolves to the JSON of the response. Rejects with {@link AzureDevOpsError} or the signal's
 * reason.
 */
export type Send = (call: RestCall) => Promise<unknown>

/** The limits of one call. */
export interface SendLimits {
  /** The maximum duration of one attempt, in milliseconds. */
  readonly timeoutMs: number
  /** The maximum size of a response, in bytes. */
  readonly bytes: number
  /** The maximum number of attempts for a GET that receives 429 or 503. */
  readonly attempts: number
  /** The longest delay of `Retry-After`, in milliseconds. With a longer one the call fails at once. */
  readonly maxRetryAfterMs: number
}

const defaultLimits: SendLimits = { timeoutMs: 20_000, bytes: 4 * 1024 * 1024, attempts: 3, maxRetryAfterMs: 10_000 }

/** Creates the function that sends calls with this `Authorization` header and these limits. */
export function createSend(authorization: string, limits: Partial<SendLimits> = {}): Send {
  const bounds = { ...defaultLimits, ...limits }
  return async (call) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await attemptCall(call, authorization, bounds)
      const failure = failureOf(answer)
      if (failure === undefined) return parseJson(answer.text)
      const pause = retryDelay(call, answer)
      if (pause === undefined || attempt >= bounds.attempts || pause > bounds.maxRetryAfterMs) throw failure
      await sleep(pause, undefined, { signal: call.signal })
    }
  }
}

async function attemptCall(call: RestCall, authorization: string, bounds: SendLimits): Promise<Answer> {
  call.signal.throwIfAborted()
  try {
    const response = await request(call.url, {
      method: call.method,
      headers: headersOf(call, authorization),
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(bounds.timeoutMs)]),
    })
    return {
      status: response.statusCode,
      contentType: textOf(response.headers['content-type']) ?? '',
      retryAfter: textOf(response.headers['retry-after']),
      text: await readBounded(response.body, bounds.bytes),
    }
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason
    if (error instanceof AzureDevOpsError) throw error
    throw new AzureDevOpsError(
      'unavailable',
      `Azure DevOps at ${new URL(call.url).origin} could not be reached or did not answer in time; try again later.`,
      { cause: error },
    )
  }
}

function headersOf(call: RestCall, authorization: string): Record<string, string> {
  const headers: Record<string, string> = {
    authorization,
    accept: 'application/json',
    // Requests a plain 401 instead of a redirect to the sign-in page.
    'x-tfs-fedauthredirect': 'Suppress',
  }
  if (call.body !== undefined) headers['content-type'] = call.contentType ?? 'application/json'
  return headers
}

/**
 * Returns the delay before the next attempt, in milliseconds. Returns `undefined` if the call must not be repeated:
 * only a GET is.
 */
function retryDelay(call: RestCall, answer: Answer): number | undefined {
  if (call.method !== 'GET' || (answer.status !== 429 && answer.status !== 503)) return undefined
  const seconds = answer.retryAfter === undefined ? 1 : Number(answer.retryAfter)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : 1000
}

async function readBounded(body: Dispatcher.ResponseData['body'], limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > limit) {
      throw new AzureDevOpsError('unexpected', `Azure DevOps answered with more than ${limit} bytes; ask for less.`)
    }
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AzureDevOpsError('unexpected', 'Azure DevOps answered with something other than JSON.', { cause })
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
