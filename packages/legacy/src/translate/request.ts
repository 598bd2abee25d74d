import {
  type ClientCapabilities,
  findMethodRow,
  findNotificationRow,
  type Implementation,
  isJsonObject,
  type JsonObject,
  type LoggingLevel,
  metaKeys,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
} from '@x/schema'
import type { LegacyRevision } from './revisions.ts'

/** A client of an older revision, as its `initialize` described it. */
export interface LegacyClient {
  readonly revision: LegacyRevision
  readonly info: Implementation | undefined
  /** In the terms of 2026-07-28. */
  readonly capabilities: ClientCapabilities
}

/** The keys of `_meta` that 2026-07-28 defines, which no older revision knows. */
const modernMetaKeys: ReadonlySet<string> = new Set(
  Object.values(metaKeys).filter((key) => key.startsWith('io.modelcontextprotocol/')),
)

/** The methods of older revisions that a server of this one serves under the same name. */
const sharedMethods: ReadonlySet<string> = new Set([
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
])

/**
 * Returns true for a method that is passed to the server: one of both revisions, or of an extension. A client may use an
 * extension that it has not declared: the official helper for skills reads the capabilities of the server alone.
 */
export function isServedMethod(method: string): boolean {
  return sharedMethods.has(method) || (findMethodRow(method) === undefined && !legacyMethods.has(method))
}

/** Methods of older revisions that this one does not have. */
const legacyMethods: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
])

const legacyNotifications: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/roots/list_changed',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
])

/** Returns true for a notification that no revision of the protocol defines: it is one of an extension. */
export function isExtensionNotification(method: string): boolean {
  return findNotificationRow(method) === undefined && !legacyNotifications.has(method)
}

/**
 * A request of an older client as one of 2026-07-28: version, capabilities, info and log level come from its session.
 * Task augmentation is ignored, because no such capability is declared (basic/utilities/tasks), and what this revision
 * alone has does not pass through.
 */
export function toModernRequest(request: RpcRequest, client: LegacyClient, level: LoggingLevel): RpcRequest {
  const { task: _task, inputResponses: _responses, requestState: _state, _meta, ...params } = request.params ?? {}
  return {
    jsonrpc: '2.0',
    id: request.id,
    method: request.method,
    params: { ...params, _meta: { ...omitReservedMeta(_meta), ...createClientMeta(client, level) } },
  }
}

/** The `_meta` with which a client of this revision would describe itself. */
export function createClientMeta(client: LegacyClient, level?: LoggingLevel): JsonObject {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientCapabilities]: client.capabilities,
    ...(client.info !== undefined && { [metaKeys.clientInfo]: client.info }),
    ...(level !== undefined && { [metaKeys.logLevel]: level }),
  }
}

/** A `_meta` without the keys of this revision. Empty for anything that is none. Those of extensions stay. */
export function omitReservedMeta(meta: unknown): JsonObject {
  if (!isJsonObject(meta)) return {}
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !modernMetaKeys.has(key)))
}

/** The `_meta` of a message's params. Empty where there is none. */
export function metaIn(params: JsonObject | undefined): JsonObject {
  const meta = params?.['_meta']
  return isJsonObject(meta) ? meta : {}
}

/** Returns true when a message says by itself that it is of 2026-07-28 or later (basic/versioning). */
export function hasProtocolVersion(params: JsonObject | undefined): boolean {
  return metaIn(params)[metaKeys.protocolVersion] !== undefined
}

/** A notification without the `_meta` keys of this revision. */
export function toPlainNotification({ method, params }: RpcNotification): RpcNotification {
  if (params === undefined) return { jsonrpc: '2.0', method }
  const { _meta, ...rest } = params
  const meta = omitReservedMeta(_meta)
  const plainParams = Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }
  return Object.keys(plainParams).length === 0
    ? { jsonrpc: '2.0', method }
    : { jsonrpc: '2.0', method, params: plainParams }
}
