import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  findMethodRow,
  type Implementation,
  metaKeys,
  projectMetaKeys,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { omitReservedMeta } from '../../translate/request.ts'
import type { LegacySettings } from '../options.ts'
import type { LegacySession } from './session.ts'

/**
 * Converts a request of 2026-07-28 into one of an older revision. `id` is unique in the session, and serves as the
 * progress token too.
 */
export function toLegacyRequest({ method, params = {} }: RpcRequest, id: number): RpcRequest {
  const { _meta, inputResponses: _responses, requestState: _state, ...members } = omitTask(method, params)
  // An older server does not know the idempotency key and may write it to its logs, so it is left out.
  const { [projectMetaKeys.idempotencyKey]: _key, ...meta } = omitReservedMeta(_meta)
  const callMeta = meta['progressToken'] === undefined ? meta : { ...meta, progressToken: id }
  const callParams = Object.keys(callMeta).length === 0 ? members : { ...members, _meta: callMeta }
  return { jsonrpc: '2.0', id, method, params: callParams }
}

/** Omits `task`: a server of 2025-11-25 would start a task of its own kind (basic/utilities/tasks). */
function omitTask(method: string, params: JsonObject): JsonObject {
  if (findMethodRow(method) === undefined) return params
  const { task: _task, ...members } = params
  return members
}

/** What every result has of a server's description. `server/discover` has the rest. */
export function toServerName({ name, version }: Implementation): Pick<Implementation, 'name' | 'version'> {
  return { name, version }
}

/** Converts an older server's response into one to a request of 2026-07-28. */
export function toModernResponse(
  response: RpcResponse,
  { id, method }: RpcRequest,
  { session, settings }: { readonly session: LegacySession; readonly settings: LegacySettings },
): RpcResponse {
  if ('error' in response) return { jsonrpc: '2.0', id, error: response.error }
  const { result } = response
  const { info } = session.peer
  const meta = { ...omitReservedMeta(result._meta), [metaKeys.serverInfo]: info && toServerName(info) }
  const _meta = info === undefined ? {} : { _meta: meta }
  const cacheFields = findMethodRow(method)?.isCacheable === true ? { ttlMs: 0, cacheScope: 'private' } : {}
  const filteredResult = method === 'tools/list' ? omitKeyedEffects(omitTaskTools(result, session, settings)) : result
  // Older revisions have only complete results, and ignore other result types (basic/index, result responses). But an
  // extension may define its own.
  const isCoreMethod = findMethodRow(method) !== undefined
  const resultType = isCoreMethod || typeof result['resultType'] !== 'string' ? 'complete' : result['resultType']
  return { jsonrpc: '2.0', id, result: { ...cacheFields, ...filteredResult, ..._meta, resultType } }
}

/** Sessions whose first tool of tasks was logged: a list is read often, and a server may send thousands of tools. */
const warnedSessions = new WeakSet<LegacySession>()

/**
 * Leaves out tools that must run as a task of 2025-11-25, because this client cannot call them (basic/utilities/tasks).
 */
function omitTaskTools(result: JsonObject, session: LegacySession, { warn }: LegacySettings): JsonObject {
  const { tools } = result
  if (!Array.isArray(tools)) return result
  const first = tools.find(needsTask)
  if (first === undefined) return result
  if (!warnedSessions.has(session)) {
    warnedSessions.add(session)
    const name = isJsonObject(first) && typeof first['name'] === 'string' ? first['name'].slice(0, 100) : 'a tool'
    const others = 'Others that do are left out without a further warning'
    warn('task_required', `${name} runs as a task of revision 2025-11-25 alone, and was left out. ${others}`)
  }
  return { ...result, tools: tools.filter((tool: JsonValue) => !needsTask(tool)) }
}

/**
 * Omits the promise that calls with the same idempotency key have one effect. An older server receives no such key, so
 * a repeated call would have its effects twice.
 */
function omitKeyedEffects(result: JsonObject): JsonObject {
  const { tools } = result
  if (!Array.isArray(tools)) return result
  const omitFrom = (tool: JsonValue): JsonValue => {
    if (!isJsonObject(tool) || !isJsonObject(tool['_meta'])) return tool
    const { [projectMetaKeys.keyedEffects]: _keyedEffects, ..._meta } = tool['_meta']
    return { ...tool, _meta }
  }
  return { ...result, tools: tools.map(omitFrom) }
}

function needsTask(tool: JsonValue): boolean {
  if (!isJsonObject(tool)) return false
  const { execution } = tool
  return isJsonObject(execution) && execution['taskSupport'] === 'required'
}

/** For a `requestState` that belongs to no waiting call. */
export function createUnknownStateResponse(id: RpcRequest['id']): RpcResponse {
  const message = 'requestState belongs to no call that waits for answers: the connection or the call has ended'
  return { jsonrpc: '2.0', id, error: { code: errorCodes.invalidParams, message, data: { reason: 'requestState' } } }
}
