import { errorRecord, type Log, platformRuntime, quoteText, withTimeout } from '@x/core'
import type { HttpAuthorizer, HttpTarget } from '@x/exchange'
import { isToolError, ToolError } from '@x/server'
import { cleanText } from '../document/clean-text.ts'
import type { OpenApiOperation, OpenApiSettings } from '../plan/options.ts'
import { type ApiResponse, describeEffect } from './read-response.ts'
import type { ApiRequest } from './write-request.ts'
import { percentEncode } from './write-value.ts'

/** An API, with what the author adds to each request. */
export interface Api {
  /** Without a last `/`. */
  readonly url: string
  readonly settings: OpenApiSettings
  readonly log: Log
}

export interface SendOptions {
  readonly operation: OpenApiOperation
  readonly auth: HttpAuthorizer | undefined
  readonly signal: AbortSignal
  /** Absent for a request that only reads. */
  readonly idempotencyKey?: string | undefined
}

// limit: requests with new credentials | count | requests of one call that the API answers with 401 | the model gets the 401
const maxAttempts = 4

/** Reads the response up to the limit. @throws ToolError if there is none. */
export async function callApi(api: Api, request: ApiRequest, options: SendOptions): Promise<ApiResponse> {
  const { settings, log } = api
  const { operation, signal } = options
  const address = joinAddress(api, request)
  let isSent = false
  const onSend = (): void => {
    isSent = true
  }
  const createFailure = (message: string): ToolError =>
    new ToolError(isSent ? `${message}${describeEffect(operation)}` : message)
  const limits = {
    timeoutMs: settings.timeoutMs,
    clock: platformRuntime,
    signal,
    createTimeoutError: () => createFailure('The API gave no answer in time'),
  }
  try {
    const response = await withTimeout(limits, (limit) =>
      attemptRequest(api, { address, request, limit, onSend }, options),
    )
    if (response.status >= 500) {
      const message = `${operation.method} ${operation.path} failed with status ${response.status}: ${cleanText(response.text, 1000)}`
      log({ level: 'error', code: 'api_failed', message })
    }
    return response
  } catch (error) {
    if (signal.aborted || isToolError(error)) throw error
    log(errorRecord(error, { name: `${operation.method} ${operation.path}` }))
    throw createFailure('The API cannot be reached')
  }
}

/** No argument may lead a request to another place than below the address of the API. */
function joinAddress({ url, settings: { query = {} } }: Api, { target }: ApiRequest): URL {
  const pairs = Object.entries(query).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
  // As text, because the platform would encode the parameters of the operation again, in another way.
  const end = pairs.length === 0 ? '' : `${target.includes('?') ? '&' : '?'}${pairs.join('&')}`
  const address = new URL(url + target + end)
  if (address.href.startsWith(`${url}/`)) return address
  throw new ToolError('The arguments lead to another address than that of the API')
}

interface Attempt {
  readonly address: URL
  readonly request: ApiRequest
  readonly limit: AbortSignal
  /** Called before the request may have an effect. */
  readonly onSend: () => void
}

async function attemptRequest(
  { url, settings, log }: Api,
  { address, request, limit, onSend }: Attempt,
  { operation, auth, idempotencyKey }: SendOptions,
): Promise<ApiResponse> {
  const { fetch = globalThis.fetch, maxResponseBytes, idempotencyHeader } = settings
  const keyHeader = idempotencyHeader === undefined || !idempotencyKey ? {} : { [idempotencyHeader]: idempotencyKey }
  const { method, body = null } = request
  const name = `${method} ${operation.path}`
  const target: HttpTarget = { url: new URL(url), requestUrl: address, method, operation: name, signal: limit }
  for (let attempt = 1; ; attempt += 1) {
    const headers = await askAuthorizer(
      async () => joinHeaders(request.headers, settings.headers, keyHeader, await auth?.headers(target)),
      log,
    )
    onSend()
    // A credential must not follow a redirect to another server.
    const response = await fetch(address.href, { method, headers, body, redirect: 'manual', signal: limit })
    const head = { status: response.status, header: (each: string) => response.headers.get(each) ?? undefined }
    const effect = describeEffect(operation, head.status)
    const decision = await askAuthorizer(() => auth?.onResponse(head, target), log, effect)
    if (decision !== 'retry' || attempt === maxAttempts) return readBytes(response, maxResponseBytes)
    await response.body?.cancel()
  }
}

function joinHeaders(...parts: readonly (Readonly<Record<string, string>> | undefined)[]): Headers {
  const headers = new Headers()
  for (const [name, value] of parts.flatMap((part = {}) => Object.entries(part))) setHeader(headers, name, value)
  return headers
}

/** The platform's own error has the value, which may be a token, and would be logged. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new TypeError(`The header ${quoteText(name)} has a name or a value that cannot be sent, such as a line break`)
  }
}

/** The text of an authorizer's error may name addresses that a model need not know. */
async function askAuthorizer<T>(run: () => T | Promise<T>, log: Log, effect = ''): Promise<T> {
  try {
    return await run()
  } catch (error) {
    log(errorRecord(error, {}))
    throw new ToolError(`There is no credential with which the API can be called${effect}`)
  }
}

async function readBytes(response: Response, maxBytes: number): Promise<ApiResponse> {
  const { status, headers, body } = response
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body?.getReader()
  while (reader !== undefined && length <= maxBytes) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer())
  const text = decodeText(bytes.subarray(0, maxBytes), headers.get('content-type') ?? '')
  if (length <= maxBytes) return { status, headers, bytes, text }
  await reader?.cancel()
  return { status, headers, bytes: undefined, text }
}

/** By the charset of the media type. One that is unknown is read as UTF-8. */
function decodeText(bytes: Uint8Array, mediaType: string): string {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(mediaType) ?? []
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
