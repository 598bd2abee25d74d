import { errorRecord, type Log, platformRuntime, withTimeout } from '@x/core'
import type { HttpAuthorizer, HttpTarget } from '@x/exchange'
import { isToolError, ToolError } from '@x/server'
import { cleanText } from '../document/clean-text.ts'
import { isReading } from '../document/open-document.ts'
import type { OpenApiOperation, OpenApiSettings } from '../plan/options.ts'
import type { ApiResponse } from './read-response.ts'
import type { ApiRequest } from './write-request.ts'

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
  const effect = isReading(operation) ? '' : '. The request may have had its effect'
  const limits = {
    timeoutMs: settings.timeoutMs,
    clock: platformRuntime,
    signal,
    createTimeoutError: () => new ToolError(`The API gave no answer in time${effect}`),
  }
  try {
    const response = await withTimeout(limits, (limit) => attemptRequest(api, { address, request, limit }, options))
    if (response.status >= 500) {
      const message = `${operation.method} ${operation.path} failed with status ${response.status}: ${cleanText(response.text, 1000)}`
      log({ level: 'error', code: 'api_failed', message })
    }
    return response
  } catch (error) {
    if (signal.aborted || isToolError(error)) throw error
    log(errorRecord(error, { name: `${operation.method} ${operation.path}` }))
    throw new ToolError(`The API cannot be reached${effect}`)
  }
}

/** No argument may lead a request to another place than below the address of the API. */
function joinAddress({ url, settings: { query = {} } }: Api, { target }: ApiRequest): URL {
  const address = new URL(url + target)
  for (const [name, value] of Object.entries(query)) address.searchParams.append(name, value)
  if (address.href.startsWith(`${url}/`)) return address
  throw new ToolError('The arguments lead to another address than that of the API')
}

async function attemptRequest(
  { url, settings, log }: Api,
  { address, request, limit }: { readonly address: URL; readonly request: ApiRequest; readonly limit: AbortSignal },
  { operation, auth, idempotencyKey }: SendOptions,
): Promise<ApiResponse> {
  const { fetch = globalThis.fetch, maxResponseBytes, idempotencyHeader } = settings
  const keyHeader = idempotencyHeader === undefined || !idempotencyKey ? {} : { [idempotencyHeader]: idempotencyKey }
  const { method, body = null } = request
  const name = `${method} ${operation.path}`
  const target: HttpTarget = { url: new URL(url), requestUrl: address, method, operation: name, signal: limit }
  for (let attempt = 1; ; attempt += 1) {
    const credential = await askAuthorizer(() => auth?.headers(target), log)
    const headers = joinHeaders(request.headers, settings.headers, keyHeader, credential)
    // A credential must not follow a redirect to another server.
    const response = await fetch(address.href, { method, headers, body, redirect: 'manual', signal: limit })
    const head = { status: response.status, header: (each: string) => response.headers.get(each) ?? undefined }
    const decision = await askAuthorizer(() => auth?.onResponse(head, target), log)
    if (decision !== 'retry' || attempt === maxAttempts) return readBytes(response, maxResponseBytes)
    await response.body?.cancel()
  }
}

function joinHeaders(...parts: readonly (Readonly<Record<string, string>> | undefined)[]): Headers {
  const headers = new Headers()
  for (const [name, value] of parts.flatMap((part = {}) => Object.entries(part))) headers.set(name, value)
  return headers
}

/** The text of an authorizer's error may name addresses that a model need not know. */
async function askAuthorizer<T>(run: () => T | Promise<T>, log: Log): Promise<T> {
  try {
    return await run()
  } catch (error) {
    log(errorRecord(error, {}))
    throw new ToolError('There is no credential with which the API can be called')
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
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes))
  if (length <= maxBytes) return { status, headers, bytes, text }
  await reader?.cancel()
  return { status, headers, bytes: undefined, text }
}
