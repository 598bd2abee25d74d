import { errorRecord, isCancelled, isJsonObject, type JsonObject, type Log } from '@x/core'
import type { Call, Exchange } from '../call/exchange.ts'
import { errorResponse, isMcpError, protocolVersion, type RpcRequest, type RpcResponse, findMethodRow } from '@x/schema'
import type { Composition } from './compose.ts'
import { extensionMethods } from '../telemetry/conventions.ts'
import { DefinitionError } from '../errors/definition-error.ts'
import type { ExtensionMethod, OfferedTarget, ServerExtension } from '../server/server-extension.ts'
import { readRequestMeta } from '../transports/revision-detection.ts'

/** The innermost exchange: serves the methods of extensions, and relays every other request. */
export function createRelay(
  exchange: Exchange,
  extensions: readonly ServerExtension[],
  findMethod: (name: string) => ExtensionMethod | undefined,
  log: Log,
): Exchange {
  rejectResources(extensions)
  const declared = declarationsOf(extensions)
  return (request, call) => {
    const method = findMethod(request.method)
    if (method !== undefined) return relayExtensionMethod(method, request, { call, log })
    const responding = exchange(request, call).then(withId(request.id))
    if (request.method !== 'server/discover') return responding
    return responding.then((response) => announce(response, declared))
  }
}

/**
 * An exchange may pass on an error without an id, because its server has not read the request; a client over stdio
 * would wait forever for the response to its id. Keeps the id alone, because a stream may stay open for hours.
 */
function withId(id: RpcRequest['id']): (response: RpcResponse) => RpcResponse {
  return (response) => (response.id === id ? response : { ...response, id })
}

/** Implements {@link ExtensionHost.offers}. Tools and prompts are another server's, so their names are unknown. */
export function findOfferedMethod(method: string, methods: Composition['methods']): OfferedTarget | undefined {
  return methods.has(method) || findMethodRow(method) || extensionMethods.has(method)
    ? { method, name: undefined }
    : undefined
}

function rejectResources(extensions: readonly ServerExtension[]): void {
  const extension = extensions.find(({ servesResources }) => servesResources === true)
  if (extension === undefined) return
  const reason = 'serves resources, which only a server of createServer can list; add the extension there'
  throw new DefinitionError('value', `extension "${extension.name}"`, { reason })
}

async function relayExtensionMethod(
  method: ExtensionMethod,
  request: RpcRequest,
  { call, log }: { readonly call: Call; readonly log: Log },
): Promise<RpcResponse> {
  try {
    readRequestMeta(request)
    return { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', ...(await method(request, call)) } }
  } catch (error) {
    if (isCancelled(call)) throw call.signal.reason
    if (!isMcpError(error)) log(errorRecord(error, { method: request.method }))
    return errorResponse(request.id, error)
  }
}

function declarationsOf(
  extensions: readonly ServerExtension[],
): Record<'serverCapabilities' | 'extensions', JsonObject> {
  const declared = extensions.filter(({ capabilities }) => capabilities !== undefined)
  return {
    serverCapabilities: Object.assign({}, ...extensions.map(({ serverCapabilities }) => serverCapabilities)),
    extensions: Object.fromEntries(
      declared.map(({ identifier = '', capabilities = {} }) => [identifier, capabilities]),
    ),
  }
}

/**
 * The exchange may belong to a server of other revisions too, so a result of `server/discover` gets the revision of
 * this one, and the capabilities of the extensions.
 */
function announce(response: RpcResponse, declared: ReturnType<typeof declarationsOf>): RpcResponse {
  if ('error' in response || response.result['supportedVersions'] === undefined) return response
  const capabilities = { ...asObject(response.result['capabilities']), ...declared.serverCapabilities }
  const extensions = { ...asObject(capabilities['extensions']), ...declared.extensions }
  const withExtensions = Object.keys(extensions).length === 0 ? capabilities : { ...capabilities, extensions }
  return {
    ...response,
    result: { ...response.result, supportedVersions: [protocolVersion], capabilities: withExtensions },
  }
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
