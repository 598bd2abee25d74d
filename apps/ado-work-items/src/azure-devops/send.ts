import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import { AzureDevOpsError } from './azure-devops-error.ts'
import { type Answer, failureOf } from './failure.ts'

/** One call of the REST interface. */
export interface RestCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** The media type of `body`; `application/json` unless given. */
  readonly contentType?: string | undefined
  readonly signal: AbortSignal
}

/** Makes one call; resolves to the JSON of its answer, rejects with {@link AzureDevOpsError} or the signal's reason. */
export type Send = (call: RestCall) => Promise<unknown>

/** The limits of one call. */
export interface SendLimits {
  /** Milliseconds that one attempt may take. */
  readonly timeoutMs: number
  /** Bytes of an answer. */
  readonly bytes: number
  /** Attempts at a GET that was answered with 429 or 503. */
  readonly attempts: number
  /** The longest `Retry-After`, in milliseconds, that is waited for; a longer one is an error at once. */
  readonly maxRetryAfterMs: number
}

const defaultLimits: SendLimits = { timeoutMs: 20_000, bytes: 4 * 1024 * 1024, attempts: 3, maxRetryAfterMs: 10_000 }

/** The settings that every call of the REST interface shares. */
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
    // Asks the service for a plain 401 in place of a redirect to its sign-in page.
    'x-tfs-fedauthredirect': 'Suppress',
  }
  if (call.body !== undefined) headers['content-type'] = call.contentType ?? 'application/json'
  return headers
}

/** Milliseconds to wait before the call is made again; `undefined` when it must not be. Only reading is repeated. */
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
