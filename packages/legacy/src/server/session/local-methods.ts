import { quoteText } from '@x/core'
import {
  errorCodes,
  errorResponse,
  legacyResourceNotFound,
  type LoggingLevel,
  McpError,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { loggingLevels } from '@x/schema/internal'
import { isServedMethod, type LegacyClient } from '../../translate/request.ts'
import type { Caller, Deps } from './deps.ts'
import { toLegacyErrorResponse } from './to-error-response.ts'
import { isKnownResource, requestNotifiableKinds } from './change-subscription.ts'

/** Settings that a client may change for itself: its log level, and the resources that it subscribes to. */
export interface ClientSettings {
  readonly client: LegacyClient
  readonly caller: Caller
  setLevel(level: LoggingLevel): void | Promise<void>
  /** True if the client has subscribed to a resource, and always if nothing is stored for the client. */
  hasUri(uri: string): boolean
  /** Throws `LimitError` if the caller has too many subscriptions. */
  subscribe(uri: string): void | Promise<void>
  unsubscribe(uri: string): void | Promise<void>
}

const maxUriLength = 2048

type LocalMethodHandler = (request: RpcRequest, clientSettings: ClientSettings, deps: Deps) => void | Promise<void>

/** Methods of older revisions that the adapters answer without the server, with an empty result. */
const localMethods: ReadonlyMap<string, LocalMethodHandler> = new Map<string, LocalMethodHandler>([
  ['ping', () => {}],
  ['logging/setLevel', (request, clientSettings) => clientSettings.setLevel(parseLevelParam(request))],
  ['resources/subscribe', subscribeToUri],
  [
    'resources/unsubscribe',
    async (request, clientSettings, deps) => {
      await requireSubscriptions(clientSettings, deps)
      await clientSettings.unsubscribe(parseUriParam(request))
    },
  ],
])

/** Answers a local or an unknown method. Undefined for a request that the server must answer. */
export function serveLocalMethod(
  request: RpcRequest,
  clientSettings: ClientSettings,
  deps: Deps,
): Promise<RpcResponse> | undefined {
  const handler = localMethods.get(request.method)
  if (handler !== undefined) return answerLocalMethod(handler, request, clientSettings, deps)
  if (isServedMethod(request.method)) return undefined
  // Older revisions do not have this method, or this server does not serve it to older clients.
  const message = `Method ${quoteText(request.method)} is not served in this revision`
  return Promise.resolve(errorResponse(request.id, new McpError(errorCodes.methodNotFound, message)))
}

async function answerLocalMethod(
  handler: LocalMethodHandler,
  request: RpcRequest,
  clientSettings: ClientSettings,
  deps: Deps,
): Promise<RpcResponse> {
  try {
    await handler(request, clientSettings, deps)
    return { jsonrpc: '2.0', id: request.id, result: {} }
  } catch (error) {
    return toLegacyErrorResponse(request.id, error, deps)
  }
}

async function subscribeToUri(request: RpcRequest, clientSettings: ClientSettings, deps: Deps): Promise<void> {
  await requireSubscriptions(clientSettings, deps)
  const uri = parseUriParam(request)
  if (clientSettings.hasUri(uri)) return
  const { client, caller } = clientSettings
  if (!(await isKnownResource(uri, { client, caller }, deps)))
    throw new McpError(legacyResourceNotFound, 'No resource has this URI', { data: { uri } })
  await clientSettings.subscribe(uri)
}

async function requireSubscriptions({ client, caller }: ClientSettings, deps: Deps): Promise<void> {
  const { hasResourceUpdates } = await requestNotifiableKinds(client, caller, deps)
  if (!hasResourceUpdates) throw new McpError(errorCodes.methodNotFound, 'The server has no subscriptions to resources')
}

function parseUriParam({ params }: RpcRequest): string {
  const uri = params?.['uri']
  if (typeof uri === 'string' && uri.length <= maxUriLength) return uri
  throw new McpError(errorCodes.invalidParams, `params.uri must be a string of at most ${maxUriLength} characters`)
}

function parseLevelParam({ params }: RpcRequest): LoggingLevel {
  const level = loggingLevels.find((name) => name === params?.['level'])
  if (level !== undefined) return level
  throw new McpError(errorCodes.invalidParams, `params.level must be one of ${loggingLevels.join(', ')}`)
}
