import { isJsonObject, type JsonObject } from '@x/core'
import { metaKeys } from '@x/schema'
import { requestMetaIn } from './host-identity.ts'
import type { HostRequest } from './member.ts'
import type { LoginRequired } from './upstream.ts'

/** The name of the tool that an upstream offers until the caller has logged in. */
export const loginTool = 'login'
/** The key of the question with the page of the login. */
const loginKey = 'gateway.login'

/** Creates the tool of an upstream that needs a login. */
export function createLoginTool(upstream: string): JsonObject {
  return {
    name: loginTool,
    description: `Logs in to ${upstream}, so that its tools become available.`,
    inputSchema: { type: 'object' },
  }
}

/** Creates the result for a call that needs a login: a question with the page, or the address for a host without pages. */
export function createLoginResult(upstream: string, { loginUrl }: LoginRequired, { request }: HostRequest): JsonObject {
  const message = `Log in to ${upstream} first`
  const capabilities = requestMetaIn(request)[metaKeys.clientCapabilities]
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined
  if (isJsonObject(elicitation) && elicitation['url'] !== undefined) {
    const question = { method: 'elicitation/create', params: { mode: 'url', message, url: loginUrl } }
    return { resultType: 'input_required', inputRequests: { [loginKey]: question } }
  }
  return { resultType: 'complete', isError: true, content: [{ type: 'text', text: `${message}: ${loginUrl}` }] }
}

/** Creates the result of the login tool for a caller that has logged in. */
export function createLoggedInResult(upstream: string): JsonObject {
  return { resultType: 'complete', content: [{ type: 'text', text: `You are logged in to ${upstream}.` }] }
}

/** Returns the params without the answer to the question of the gateway, which no upstream expects. */
export function withoutLoginAnswer(params: JsonObject): { readonly params: JsonObject; readonly hasAnswer: boolean } {
  const { inputResponses, ...others } = params
  if (!isJsonObject(inputResponses) || !Object.hasOwn(inputResponses, loginKey)) return { params, hasAnswer: false }
  const { [loginKey]: _, ...answers } = inputResponses
  return {
    params: Object.keys(answers).length === 0 ? others : { ...others, inputResponses: answers },
    hasAnswer: true,
  }
}
