import { isJsonObject, type JsonObject } from '@x/core'
import { metaKeys } from '@x/schema'
import { metaIn } from '@x/schema/internal'
import { loginTool } from '../upstream/tool-rules.ts'
import type { HostRequest } from './host-request.ts'
import type { LoginRequired } from '../hop/upstream-error.ts'

const loginKey = 'gateway.login'

export function createLoginTool(upstream: string): JsonObject {
  return {
    // An upstream's name is short enough that this one is never shortened.
    name: `${upstream}__${loginTool}`,
    description: `Logs in to ${upstream}, so that its tools become available.`,
    inputSchema: { type: 'object' },
  }
}

/**
 * For a call that needs a login: a question with the page, or the address for a host without pages. If the user has
 * declined, the result says so.
 */
export function createLoginResult(
  upstream: string,
  { loginUrl }: LoginRequired,
  { host: { request }, answer }: { readonly host: HostRequest; readonly answer: LoginAnswer },
): JsonObject {
  if (answer === 'declined') return createDeclinedResult(upstream)
  const message = `Log in to ${upstream} first`
  const capabilities = metaIn(request.params)[metaKeys.clientCapabilities]
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined
  if (isJsonObject(elicitation) && elicitation['url'] !== undefined) {
    const question = {
      method: 'elicitation/create',
      params: { mode: 'url', message, url: loginUrl, elicitationId: loginUrl },
    }
    // A call that has already asked continues from its state after the login.
    const requestState = request.params?.['requestState']
    const kept = typeof requestState === 'string' ? { requestState } : {}
    return { resultType: 'input_required', inputRequests: { [loginKey]: question }, ...kept }
  }
  return { resultType: 'complete', isError: true, content: [{ type: 'text', text: `${message}: ${loginUrl}` }] }
}

export function createLoggedInResult(upstream: string): JsonObject {
  return { resultType: 'complete', content: [{ type: 'text', text: `You are logged in to ${upstream}.` }] }
}

function createDeclinedResult(upstream: string): JsonObject {
  const text = `The user did not log in to ${upstream}, so its tools cannot be called.`
  return { resultType: 'complete', isError: true, content: [{ type: 'text', text }] }
}

/** The user's answer to the question with the page. Undefined if the request has none. */
export type LoginAnswer = 'accepted' | 'declined' | undefined

/** Takes the answer to the gateway's own question out of the params, because no upstream expects it. */
export function takeLoginAnswer(params: JsonObject): {
  readonly params: JsonObject
  readonly answer: LoginAnswer
} {
  const { inputResponses, ...others } = params
  if (!isJsonObject(inputResponses) || !Object.hasOwn(inputResponses, loginKey)) return { params, answer: undefined }
  const { [loginKey]: answer, ...answers } = inputResponses
  return {
    params: Object.keys(answers).length === 0 ? others : { ...others, inputResponses: answers },
    answer: isJsonObject(answer) && answer['action'] === 'accept' ? 'accepted' : 'declined',
  }
}
