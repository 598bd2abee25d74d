import { callerKeyOf, type Call, clientSessionKey } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys, type RpcRequest } from '@x/schema'
import { metaIn } from '@x/schema/internal'
import type { CallerCredential, UpstreamCaller } from './hop-options.ts'

/** The host that sends a request. An older upstream receives a connection of its own for each host. */
export interface HostIdentity {
  /** Quotas count the caller under this key. */
  readonly callerKey: string
  /** Caller, and name of its client in the handshake. */
  readonly client: string
  /** The kinds of questions that the host can be asked, as the request declares them. */
  readonly questions: readonly string[]
  /** Session and client. Requests with the same key may share a connection to an older server. */
  readonly key: string
  /** Given to the function that opens connections. */
  readonly caller: UpstreamCaller
}

/**
 * Tells which host sends a request. An older server takes the client's name and capabilities from the handshake. But a
 * request of this revision may declare less than its host can do, and extensions that concern this request alone; so
 * extensions are no part of the identity, and a request with fewer kinds of questions is still one of the same host.
 */
export function identityOf(
  request: RpcRequest,
  call: Pick<Call, 'principal' | 'context'>,
  { id, caller }: CallerCredential,
): HostIdentity {
  const meta = metaIn(request.params)
  const info = meta[metaKeys.clientInfo]
  const callerKey = callerKeyOf(call)
  const clientName = isJsonObject(info) ? info['name'] : undefined
  const client = JSON.stringify([callerKey, id, clientName])
  const questions = questionsOf(request)
  return { callerKey, client, questions, caller, key: JSON.stringify([call.context.get(clientSessionKey), client]) }
}

/** True if one request's connection serves another: of the same host, with at least its kinds of questions. */
export function servesHost(own: HostIdentity, { key, questions }: HostIdentity): boolean {
  return own.key === key && questions.every((kind) => own.questions.includes(kind))
}

function questionsOf(request: RpcRequest): readonly string[] {
  const capabilities = metaIn(request.params)[metaKeys.clientCapabilities]
  if (!isJsonObject(capabilities)) return []
  const { elicitation } = capabilities
  const modes = isJsonObject(elicitation) ? Object.keys(elicitation).map((mode) => `elicitation ${mode}`) : []
  const kinds = ['elicitation', 'roots', 'sampling'].filter((name) => capabilities[name] !== undefined)
  return [...kinds, ...modes]
}

/** The part of a request's `_meta` that describes its host. Only this is sent on to describe an upstream. */
export function identityMetaIn(request: RpcRequest): JsonObject {
  const { protocolVersion, clientInfo, clientCapabilities } = metaKeys
  const meta = metaIn(request.params)
  return Object.fromEntries(
    [protocolVersion, clientInfo, clientCapabilities].flatMap((key) =>
      meta[key] === undefined ? [] : [[key, meta[key]]],
    ),
  )
}

/** Makes another request in the name of the same host. Of the params it has the `_meta` alone, beside a cursor. */
export function createRelatedRequest(request: RpcRequest, method: string, cursor: JsonObject = {}): RpcRequest {
  const { _meta } = request.params ?? {}
  return { ...request, method, params: { ...cursor, ...(isJsonObject(_meta) && { _meta }) } }
}
