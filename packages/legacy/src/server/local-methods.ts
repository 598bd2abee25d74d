import { errorCodes, errorResponse, type LoggingLevel, McpError, type RpcRequest, type RpcResponse } from '@x/schema'
import type { LegacyClient } from '../translate/request.ts'
import type { Caller } from './call-channel.ts'
import type { Deps } from './deps.ts'
import { notifiableBy } from './listening.ts'

/** Settings of a client for itself: its log level, and the resources whose changes it wants. */
export interface ClientSettings {
  readonly client: LegacyClient
  readonly caller: Caller
  setLevel(level: LoggingLevel): void | Promise<void>
  /** Adds a resource; false when there are too many. */
  subscribe(uri: string): boolean | Promise<boolean>
  unsubscribe(uri: string): void | Promise<void>
}

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

type Serve = (request: RpcRequest, client: ClientSettings, deps: Deps) => void | Promise<void>

/** The methods of older revisions that the adapters answer themselves, with an empty result. */
const localMethods: ReadonlyMap<string, Serve> = new Map<string, Serve>([
  ['ping', () => {}],
  ['logging/setLevel', (request, client) => client.setLevel(levelIn(request))],
  ['resources/subscribe', subscribe],
  [
    'resources/unsubscribe',
    async (request, client, deps) => {
      await requireSubscriptions(client, deps)
      await client.unsubscribe(uriIn(request))
    },
  ],
])

/** Answers a request that needs no handler; undefined for any other. */
export function serveLocally(
  request: RpcRequest,
  client: ClientSettings,
  deps: Deps,
): Promise<RpcResponse> | undefined {
  const serve = localMethods.get(request.method)
  return serve === undefined ? undefined : answerLocally(serve, request, { client, deps })
}

async function answerLocally(
  serve: Serve,
  request: RpcRequest,
  { client, deps }: { readonly client: ClientSettings; readonly deps: Deps },
): Promise<RpcResponse> {
  try {
    await serve(request, client, deps)
    return { jsonrpc: '2.0', id: request.id, result: {} }
  } catch (error) {
    return errorResponse(request.id, error)
  }
}

async function subscribe(request: RpcRequest, client: ClientSettings, deps: Deps): Promise<void> {
  await requireSubscriptions(client, deps)
  if (await client.subscribe(uriIn(request))) return
  throw new McpError(errorCodes.invalidParams, 'There are too many subscriptions: unsubscribe from one first')
}

async function requireSubscriptions({ client, caller }: ClientSettings, deps: Deps): Promise<void> {
  const { resources } = await notifiableBy(client, caller, deps)
  if (!resources) throw new McpError(errorCodes.methodNotFound, 'The server has no subscriptions to resources')
}

function uriIn({ params }: RpcRequest): string {
  const uri = params?.['uri']
  if (typeof uri === 'string') return uri
  throw new McpError(errorCodes.invalidParams, 'params.uri must be a string')
}

function levelIn({ params }: RpcRequest): LoggingLevel {
  const level = levels.find((name) => name === params?.['level'])
  if (level !== undefined) return level
  throw new McpError(errorCodes.invalidParams, `params.level must be one of ${levels.join(', ')}`)
}

/** The error of a method that older revisions do not have, or that this server does not serve to them. */
export function unknownMethod({ id, method }: RpcRequest): RpcResponse {
  const name = JSON.stringify(method.slice(0, 100))
  return errorResponse(id, new McpError(errorCodes.methodNotFound, `Method ${name} is not served in this revision`))
}
