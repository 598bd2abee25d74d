import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'

/** An HTTP request that a test sends. */
export interface PostRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string | Uint8Array | undefined
}

/** What a test changes of a request that is right. */
export interface PostChanges {
  readonly httpMethod?: string
  readonly id?: string | number
  /** Headers to set, or with null to leave out. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** The whole body instead of the message's. */
  readonly body?: string | Uint8Array
  /** The content of `_meta`, or null for none. */
  readonly meta?: JsonObject | null
}

/** The `_meta` of a request that is right. */
export const modernMeta: JsonObject = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientCapabilities]: {},
}

/** A request that is right in everything but the changes. */
export function createPostRequest(method: string, params: JsonObject = {}, changes: PostChanges = {}): PostRequest {
  const verb = changes.httpMethod ?? 'POST'
  const body = changes.body ?? textOf(method, params, changes)
  return {
    method: verb,
    path: '/mcp',
    headers: headersOf(method, params, changes),
    body: verb === 'GET' ? undefined : body,
  }
}

function textOf(method: string, params: JsonObject, { id = 1, meta = modernMeta }: PostChanges): string {
  const all = meta === null ? params : { ...params, _meta: meta }
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: all })
}

function headersOf(method: string, params: JsonObject, changes: PostChanges): Record<string, string> {
  const name = params.name ?? params.uri
  const headers: Record<string, string | null> = {
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': protocolVersion,
    'mcp-method': method,
    'mcp-name': typeof name === 'string' ? name : null,
    ...changes.headers,
  }
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null))
}
