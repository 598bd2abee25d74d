import {
  type CallToolResult,
  checkInputRequest,
  type GetPromptResult,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type ReadResourceResult,
} from '@x/schema'
import { shownKey, wordFailure } from '../word-failure.ts'

/** What the methods answer at last whose calls may be answered with `input_required` (basic/patterns/mrtr). */
export interface AskingResults {
  'tools/call': CallToolResult
  'prompts/get': GetPromptResult
  'resources/read': ReadResourceResult
}

/** A method whose call may be answered with `input_required`. */
export type AskingMethod = keyof AskingResults

/** What a server wants before it goes on with a call: at least one request, or a state. */
export interface Asked {
  readonly resultType: 'input_required'
  /** A Map, because the keys are the server's. */
  readonly requests: ReadonlyMap<string, InputRequest>
  /** Never looked into. */
  readonly state: string | undefined
  readonly meta: JsonObject | undefined
}

/** Whether a settled result wants input. A complete one always has a `resultType`, which is another. */
export function isAsked(settled: { readonly resultType: string }): settled is Asked {
  return settled.resultType === 'input_required'
}

/** How many requests one round may have. */
const maximumRequests = 100

/** An `input_required` result, or where and why it is not one. */
export function parseAsked(result: JsonObject): Asked | { readonly issue: string } {
  const { inputRequests = {}, requestState: state, _meta: meta } = result
  if (state !== undefined && typeof state !== 'string') return { issue: 'requestState: expected a string' }
  const requests = parseRequests(inputRequests)
  if ('issue' in requests) return requests
  if (requests.size === 0 && state === undefined) {
    return { issue: 'inputRequests: it asks for input, and has neither requests nor a requestState' }
  }
  return { resultType: 'input_required', requests, state, meta: isJsonObject(meta) ? meta : undefined }
}

/** The requests of a round by their keys, or where and why they are none. */
function parseRequests(value: unknown): ReadonlyMap<string, InputRequest> | { readonly issue: string } {
  if (!isJsonObject(value)) return { issue: 'inputRequests: expected an object' }
  const entries = Object.entries(value)
  if (entries.length > maximumRequests) return { issue: `inputRequests: more than ${maximumRequests} requests` }
  const requests = new Map<string, InputRequest>()
  for (const [key, request] of entries) {
    const failure = checkInputRequest(request)
    if (failure !== undefined) return { issue: `inputRequests ${shownKey(key)} ${wordFailure(failure)}` }
    // The check of its own method has accepted it; the original is kept, unknown members and all.
    requests.set(key, request as unknown as InputRequest)
  }
  return requests
}
