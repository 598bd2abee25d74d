import { isJsonObject, type JsonObject } from '@x/core'
import { type Call, withNotify } from '@x/exchange'
import { invalidStateError, hopObserverKey } from '@x/exchange/internal'
import { errorCodes, metaKeys, type RpcRequest, type RpcResponse } from '@x/schema'
import { createLoggedInResult, createLoginResult, type LoginAnswer, takeLoginAnswer } from './login.ts'
import { isAway, type Upstream } from '../upstream/upstream.ts'
import type { HostRequest } from './host-request.ts'
import { createRelatedRequest } from '../hop/host-identity.ts'
import type { Route, Target } from './routes.ts'
import type { TaggedState } from '../names/state.ts'
import { findNeededLogin, lostCallError } from '../hop/upstream-error.ts'

/** How many requests may reach another instance than that of their call. Hosts accept about ten rounds. */
// limit: attempts at other instances | count | requests that miss the instance of a call of an older upstream |
//   `-32603`
const maxMisses = 8

/** Sends a request to the one upstream that its target belongs to. */
export async function routeCall(route: Route, host: HostRequest): Promise<RpcResponse> {
  const { request, call, parts } = host
  const found = await route.find(host)
  const { upstream } = found
  call.context.get(hopObserverKey)?.setUpstream(upstream.name)
  const state = await openHostState(host, upstream)
  if (state?.tag.instance !== undefined && state.tag.instance !== parts.instance)
    return succeed(request, await passToOwner(state, host))
  const credential = await upstream.findCredential(request, call)
  const { params, answer } = takeLoginAnswer(withState(found.params, state))
  if ('loginUrl' in credential) return succeed(request, createLoginResult(upstream.name, credential, { host, answer }))
  if (found.isLogin === true) return succeed(request, await checkLogin(host, upstream, answer))
  const response = await upstream.exchange({ ...request, params }, callOf(found, call), credential)
  const login = findNeededLogin(response)
  if (login !== undefined) return succeed(request, createLoginResult(upstream.name, login, { host, answer }))
  if ('error' in response) return addUpstreamName(response, upstream)
  return succeed(request, await rewriteResult(response.result, { route, target: found, host }))
}

/** Answers a call of the gateway's own tool: whether the login is valid shows in a list of the upstream. */
async function checkLogin(host: HostRequest, upstream: Upstream, answer: LoginAnswer): Promise<JsonObject> {
  const { request, call } = host
  const listed = await upstream.ask(createRelatedRequest(request, 'tools/list'), call)
  if ('login' in listed) return createLoginResult(upstream.name, listed.login, { host, answer })
  if (isAway(listed)) throw await upstream.createMissingListError()
  return createLoggedInResult(upstream.name)
}

async function openHostState(host: HostRequest, upstream: Upstream): Promise<TaggedState | undefined> {
  const { request, call, parts } = host
  const requestState = request.params?.['requestState']
  if (requestState === undefined) return undefined
  const state = await parts.state.openState(requestState, request, call)
  if (state.tag.upstream !== upstream.name) throw invalidStateError()
  return state
}

/**
 * Puts a host's answers into a new state, for the instance whose process has the call. The result has no question, so
 * the host sends the request again, and the load balancer may select another instance.
 */
async function passToOwner({ tag, state }: TaggedState, { request, call, parts }: HostRequest): Promise<JsonObject> {
  const { misses = 0 } = tag
  if (misses >= maxMisses) throw lostCallError(tag.upstream)
  const answers = request.params?.['inputResponses'] ?? tag.answers
  const next = { ...tag, misses: misses + 1, answers: isJsonObject(answers) ? answers : undefined }
  return {
    resultType: 'input_required',
    requestState: await parts.state.sealState({ tag: next, state }, request, call),
  }
}

function withState(params: JsonObject, tagged: TaggedState | undefined): JsonObject {
  if (tagged === undefined) return params
  const { tag, state: requestState } = tagged
  return { ...params, requestState, ...(tag.answers !== undefined && { inputResponses: tag.answers }) }
}

function callOf({ upstream }: Target, call: Call): Call {
  return withNotify(call, (notification) => {
    if (notification.method !== 'notifications/message') return call.notify(notification)
    const { logger } = notification.params ?? {}
    const name = typeof logger === 'string' ? `${upstream.name}/${logger}` : upstream.name
    call.notify({ ...notification, params: { ...notification.params, logger: name } })
  })
}

async function rewriteResult(
  result: JsonObject,
  { route, target, host }: { readonly route: Route; readonly target: Target; readonly host: HostRequest },
): Promise<JsonObject> {
  const { request, call, parts } = host
  const { upstream } = target
  const { name } = upstream
  const { resultType, requestState, taskId } = result
  if (resultType === 'input_required') {
    if (typeof requestState !== 'string') return withServerInfo(result, host)
    const instance = upstream.hop.keepsCalls ? parts.instance : undefined
    const state = { tag: { upstream: name, instance }, state: requestState }
    return withServerInfo({ ...result, requestState: await parts.state.sealState(state, request, call) }, host)
  }
  const rewritten = withServerInfo(route.rewrite(result, name), host)
  if (typeof taskId !== 'string') return rewritten
  return { ...rewritten, taskId: target.taskId ?? (await parts.state.sealTaskId(name, taskId, call)) }
}

/**
 * Names the gateway as the server of a result. Only `server/discover` describes it (`isWhole`), because some hosts show
 * `_meta` to the model.
 */
export function withServerInfo(result: JsonObject, { parts: { info } }: HostRequest, isWhole = false): JsonObject {
  const { _meta } = result
  const { name, version, ...others } = info
  const serverInfo = { name, version, ...(isWhole && others) }
  return { ...result, _meta: { ...(isJsonObject(_meta) && _meta), [metaKeys.serverInfo]: serverInfo } }
}

function addUpstreamName(response: Extract<RpcResponse, { readonly error: unknown }>, { name }: Upstream): RpcResponse {
  const { error } = response
  const isNamed = error.code !== errorCodes.internal || error.data !== undefined
  return isNamed ? response : { ...response, error: { ...error, data: { upstream: name } } }
}

/** The response that ends a stream of changes (basic/patterns/subscriptions, teardown). */
export function endOfStream(request: RpcRequest): RpcResponse {
  return succeed(request, { resultType: 'complete', _meta: { [metaKeys.subscriptionId]: request.id } })
}

export function succeed({ id }: RpcRequest, result: JsonObject): RpcResponse {
  return { jsonrpc: '2.0', id, result }
}
