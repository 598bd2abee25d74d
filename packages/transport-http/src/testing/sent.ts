import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'

/** An HTTP request that a test sends. */
export interface PostRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string | Uint8Array | undefined
}

/** The changes that a test makes to a valid request. */
export interface PostChanges {
  readonly httpMethod?: string
  readonly id?: string | number
  /** Headers to set. A header whose value is null is left out. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** The whole body, which replaces the message. */
  readonly body?: string | Uint8Array
  /** The content of `_meta`. If it is null, the request has no `_meta`. */
  readonly meta?: JsonObject | null
}

/** The `_meta` of a valid request. */
export const modernMeta: JsonObject = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientCapabilities]: {},
}

/** Creates a request that is valid except for the changes. */
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
