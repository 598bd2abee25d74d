import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'

export interface PostRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string | Uint8Array | undefined
}

/** What a test changes of a valid request. */
export interface PostChanges {
  readonly httpMethod?: string
  readonly id?: string | number
  /** Headers to set. Null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** Whole body, in place of the message. */
  readonly body?: string | Uint8Array
  /** What `_meta` contains. Null for a request without `_meta`. */
  readonly meta?: JsonObject | null
}

export const modernMeta: JsonObject = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientCapabilities]: {},
}

/** Valid except for the changes. */
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
