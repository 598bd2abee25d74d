import { errorCodes, errorResponse, type LoggingLevel, McpError, type RpcRequest, type RpcResponse } from '@x/schema'
import type { LegacyClient } from '../translate/request.ts'
import type { Caller } from './call-channel.ts'
import type { Deps } from './deps.ts'
import { requestNotifiableKinds } from './change-subscription.ts'

/** Settings of a client for itself: its log level, and the resources whose changes it wants. */
export interface ClientSettings {
  readonly client: LegacyClient
  readonly caller: Caller
  setLevel(level: LoggingLevel): void | Promise<void>
  /** Adds a resource; false when there are too many. */
  subscribe(uri: string): boolean | Promise<boolean>
  unsubscribe(uri: string): void | Promise<void>
}

const loggingLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

type LocalMethodHandler = (request: RpcRequest, clientSettings: ClientSettings, deps: Deps) => void | Promise<void>

/** The methods of older revisions that the adapters answer themselves, with an empty result. */
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

/** Answers a request that needs no handler; undefined for any other. */
export function serveLocalMethod(
  request: RpcRequest,
  clientSettings: ClientSettings,
  deps: Deps,
): Promise<RpcResponse> | undefined {
  const handler = localMethods.get(request.method)
  return handler === undefined ? undefined : answerLocalMethod(handler, request, { clientSettings, deps })
}

async function answerLocalMethod(
  handler: LocalMethodHandler,
  request: RpcRequest,
  { clientSettings, deps }: { readonly clientSettings: ClientSettings; readonly deps: Deps },
): Promise<RpcResponse> {
  try {
    await handler(request, clientSettings, deps)
    return { jsonrpc: '2.0', id: request.id, result: {} }
  } catch (error) {
    return errorResponse(request.id, error)
  }
}

async function subscribeToUri(request: RpcRequest, clientSettings: ClientSettings, deps: Deps): Promise<void> {
  await requireSubscriptions(clientSettings, deps)
  if (await clientSettings.subscribe(parseUriParam(request))) return
  throw new McpError(errorCodes.invalidParams, 'There are too many subscriptions: unsubscribe from one first')
}

async function requireSubscriptions({ client, caller }: ClientSettings, deps: Deps): Promise<void> {
  const { hasResourceUpdates } = await requestNotifiableKinds(client, caller, deps)
  if (!hasResourceUpdates) throw new McpError(errorCodes.methodNotFound, 'The server has no subscriptions to resources')
}

function parseUriParam({ params }: RpcRequest): string {
  const uri = params?.['uri']
  if (typeof uri === 'string') return uri
  throw new McpError(errorCodes.invalidParams, 'params.uri must be a string')
}

function parseLevelParam({ params }: RpcRequest): LoggingLevel {
  const level = loggingLevels.find((name) => name === params?.['level'])
  if (level !== undefined) return level
  throw new McpError(errorCodes.invalidParams, `params.level must be one of ${loggingLevels.join(', ')}`)
}

/** The error of a method that older revisions do not have, or that this server does not serve to them. */
export function createUnknownMethodResponse({ id, method }: RpcRequest): RpcResponse {
  const name = JSON.stringify(method.slice(0, 100))
  return errorResponse(id, new McpError(errorCodes.methodNotFound, `Method ${name} is not served in this revision`))
}
