import { isSecureUrl, quoteText } from '@x/core'
import {
  type CallToolResult,
  checkInputRequest,
  type GetPromptResult,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type ReadResourceResult,
} from '@x/schema'
import { describeCheckFailure } from './client-error.ts'

/** Methods that may answer with `input_required`, and their complete results (basic/patterns/mrtr). */
export interface MultiRoundResults {
  'tools/call': CallToolResult
  'prompts/get': GetPromptResult
  'resources/read': ReadResourceResult
}

/** A method whose server may ask for input. */
export type MultiRoundMethod = keyof MultiRoundResults

/** What a server needs before it continues a call: at least one request, or a state. */
export interface InputRequired {
  readonly resultType: 'input_required'
  /** By key, in a `Map`: the server chooses the keys, and may choose `__proto__`. */
  readonly requests: ReadonlyMap<string, InputRequest>
  /** Opaque; the client never parses it. */
  readonly requestState: string | undefined
  readonly meta: JsonObject | undefined
}

/** Distinguishes an {@link InputRequired} from a complete result. */
export function isInputRequired(outcome: { readonly resultType: string }): outcome is InputRequired {
  return outcome.resultType === 'input_required'
}

const maxInputRequests = 100

/** Parses an `input_required` result; an invalid one gives the path and reason. */
export function parseInputRequired(result: JsonObject): InputRequired | { readonly issue: string } {
  const { inputRequests = {}, requestState, _meta: meta } = result
  if (requestState !== undefined && typeof requestState !== 'string')
    return { issue: 'requestState: expected a string' }
  const requests = parseInputRequests(inputRequests)
  if ('issue' in requests) return requests
  if (requests.size === 0 && requestState === undefined) {
    return { issue: 'inputRequests: it asks for input, and has neither requests nor a requestState' }
  }
  return { resultType: 'input_required', requests, requestState, meta: isJsonObject(meta) ? meta : undefined }
}

/**
 * Writes a request's URL as a browser opens it. Its host becomes ASCII (Punycode), so that letters of another alphabet
 * cannot imitate a known name (client/elicitation, safe URL handling). An unsafe URL stays as it is, because it will be
 * rejected.
 */
function withNormalizedUrl(request: InputRequest): InputRequest {
  if (request.method !== 'elicitation/create' || request.params.mode !== 'url') return request
  const { url } = request.params
  if (describeUnsafeUrl(url) !== undefined) return request
  return { ...request, params: { ...request.params, url: new URL(url).href } }
}

function parseInputRequests(value: unknown): ReadonlyMap<string, InputRequest> | { readonly issue: string } {
  if (!isJsonObject(value)) return { issue: 'inputRequests: expected an object' }
  const entries = Object.entries(value)
  if (entries.length > maxInputRequests) return { issue: `inputRequests: more than ${maxInputRequests} requests` }
  const requests = new Map<string, InputRequest>()
  for (const [key, request] of entries) {
    const failure = checkInputRequest(request)
    if (failure !== undefined) return { issue: `inputRequests ${quoteText(key)} ${describeCheckFailure(failure)}` }
    // The cast is safe: the check of its method has accepted the request. The original is kept, with members that this
    // revision does not define.
    requests.set(key, withNormalizedUrl(request as unknown as InputRequest))
  }
  return requests
}

/**
 * Says why a URL must not be shown to a user; a safe one gives `undefined`. Some schemes run code or access this
 * machine, credentials can make one host look like another, and with invisible characters the user would see another
 * URL than opens (client/elicitation, safe URL handling).
 */
export function describeUnsafeUrl(text: string): string | undefined {
  if (text.length > maxUrlLength) return `it is longer than ${maxUrlLength} characters`
  if (/[\p{C}\p{Z}]/u.test(text)) return 'it has spaces or invisible characters'
  if (!URL.canParse(text)) return 'it is not an absolute URL'
  const url = new URL(text)
  if (!isSecureUrl(url)) return 'it starts with neither https: nor http: of this machine'
  const { username, password } = url
  return username !== '' || password !== '' ? 'it has credentials before its host' : undefined
}

const maxUrlLength = 8192
