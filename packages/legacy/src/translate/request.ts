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
import { metaIn } from '@x/schema/internal'
import { isTaskMessage } from './capabilities.ts'
import type { LegacyRevision } from './revisions.ts'

/** A client of an older revision, as its `initialize` described it. */
export interface LegacyClient {
  readonly revision: LegacyRevision
  readonly info: Implementation | undefined
  /** The client's capabilities in the form of 2026-07-28. */
  readonly capabilities: ClientCapabilities
}

/** Keys of `_meta` that 2026-07-28 defines, and that no older revision knows. */
const modernMetaKeys: ReadonlySet<string> = new Set(
  Object.values(metaKeys).filter((key) => key.startsWith('io.modelcontextprotocol/')),
)

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
 * True if a method is passed to the server, because both revisions or an extension define it. A client may use an
 * extension that it has not declared: the official helper for skills, for example, reads only the server's
 * capabilities.
 */
export function isServedMethod(method: string): boolean {
  return sharedMethods.has(method) || isExtensionMethod(method)
}

/** True if no revision of the protocol defines a method, so that it belongs to an extension. */
export function isExtensionMethod(method: string): boolean {
  return findMethodRow(method) === undefined && !legacyMethods.has(method) && !isTaskMessage(method)
}

/** Methods of older revisions that 2026-07-28 does not have. */
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
])

/** True if no revision of the protocol defines a notification, so that it belongs to an extension. */
export function isExtensionNotification(method: string): boolean {
  return findNotificationRow(method) === undefined && !legacyNotifications.has(method) && !isTaskMessage(method)
}

/**
 * Translates an older client's request to 2026-07-28. Its `_meta` gets the client's version, capabilities, info and log
 * level. `task` is left out, because older clients are offered no capability for it (basic/utilities/tasks), and so are
 * members that only 2026-07-28 defines.
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

/** As a client of 2026-07-28 would describe itself. */
export function createClientMeta(client: LegacyClient, level?: LoggingLevel): JsonObject {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientCapabilities]: client.capabilities,
    ...(client.info !== undefined && { [metaKeys.clientInfo]: client.info }),
    ...(level !== undefined && { [metaKeys.logLevel]: level }),
  }
}

/**
 * Drops the `_meta` keys that 2026-07-28 defines, and keeps those of extensions. Empty if the value is not an object.
 */
export function omitReservedMeta(meta: unknown): JsonObject {
  if (!isJsonObject(meta)) return {}
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !modernMetaKeys.has(key)))
}

/** True if a message's params name a protocol version, as those of 2026-07-28 do (basic/versioning). */
export function hasProtocolVersion(params: JsonObject | undefined): boolean {
  return metaIn(params)[metaKeys.protocolVersion] !== undefined
}

/** Drops the `_meta` keys that 2026-07-28 defines. */
export function toPlainNotification({ method, params }: RpcNotification): RpcNotification {
  if (params === undefined) return { jsonrpc: '2.0', method }
  const { _meta, ...rest } = params
  const meta = omitReservedMeta(_meta)
  const plainParams = Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }
  return Object.keys(plainParams).length === 0
    ? { jsonrpc: '2.0', method }
    : { jsonrpc: '2.0', method, params: plainParams }
}
