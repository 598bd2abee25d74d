import {
  checkInputRequest,
  type ClientCapabilities,
  errorCodes,
  type InputRequest,
  type JsonObject,
  type RpcRequest,
  type StatefulRequest,
  type StatefulResponse,
  findMissingCapabilities,
  type WireError,
} from '@x/schema'
import { requiredCapabilitiesOf } from '../../translate/input-request.ts'

/**
 * Converts what an older server asks into an input request of 2026-07-28. It is an error if the client has not declared
 * the capability for it, as the specification requires (client/elicitation, client/sampling, client/roots).
 */
export function parseQuestion(
  { method, params = {} }: RpcRequest,
  declaredCapabilities: ClientCapabilities,
): { readonly question: InputRequest } | { readonly error: WireError } {
  const { _meta, task: _task, elicitationId: _id, ...fields } = params
  const requiredCapabilities = requiredCapabilitiesOf(method, params)
  if (requiredCapabilities === undefined)
    return createQuestionError(errorCodes.methodNotFound, `A client does not serve ${method.slice(0, 100)}`)
  if (findMissingCapabilities(declaredCapabilities, requiredCapabilities) !== undefined) {
    const code = method === 'elicitation/create' ? errorCodes.invalidParams : errorCodes.methodNotFound
    return createQuestionError(code, `This client has not declared ${JSON.stringify(requiredCapabilities)}`)
  }
  const request: JsonObject = method === 'roots/list' ? { method } : { method, params: fields }
  const problem = checkInputRequest(request)
  if (problem !== undefined)
    return createQuestionError(errorCodes.invalidParams, `The params of ${method} are not valid`)
  // `checkInputRequest` has accepted the request, so it has this type.
  return { question: request as unknown as InputRequest }
}

function createQuestionError(code: number, message: string): { readonly error: WireError } {
  return { error: { code, message } }
}

/** Answers a request of a server, and returns its `state` unchanged (SEP-1685). */
export function createStatefulResponse(
  request: StatefulRequest,
  answer: { readonly result: JsonObject } | { readonly error: WireError },
): StatefulResponse {
  const echoedState = request.state === undefined ? {} : { state: request.state }
  return { jsonrpc: '2.0', id: request.id, ...echoedState, ...answer }
}
