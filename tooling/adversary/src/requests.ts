import { metaKeys, protocolVersion } from '@x/schema'
import { fieldNames } from './server/bomb-schemas.ts'

/** A request of an attack. The body can be any bytes, and the headers need not match it. */
export interface Message {
  readonly body: string | Buffer
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

/** The `_meta` of a client that supports every question. */
const fullMeta = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientInfo]: { name: 'adversary', version: '1.0.0' },
  [metaKeys.clientCapabilities]: { elicitation: { form: {}, url: {} } },
}

/** Creates a request with the headers that the revision requires. */
export function request(method: string, params: Readonly<Record<string, unknown>> = {}): Message {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...fullMeta, ...metaIn(params) } } }
  return { body: JSON.stringify(body), headers: headersOf(method, params['name'] ?? params['uri']) }
}

/** Creates a call of a tool. `more` has further members of `params`. */
export function callOf(name: string, args: unknown, more: Readonly<Record<string, unknown>> = {}): Message {
  return request('tools/call', { name, arguments: args, ...more })
}

/** Creates a call of a tool with a raw text as arguments, which may be invalid JSON. */
export function rawCallOf(name: string, args: string): Message {
  const { body, headers } = callOf(name, 'ARGUMENTS')
  return { body: String(body).replace('"ARGUMENTS"', () => args), headers }
}

/** Returns rows that the tool of every bomb accepts: few values with long texts, of about the given bytes as JSON. */
export function validRows(bytes: number): Readonly<Record<string, string>>[] {
  const rows = Math.max(1, Math.min(800, Math.floor(bytes / 420)))
  const text = 'x'.repeat(Math.max(1, Math.floor(bytes / rows / fieldNames.length) - 12))
  return Array.from({ length: rows }, () => Object.fromEntries(fieldNames.map((name) => [name, text])))
}

function headersOf(method: string, name: unknown): Message['headers'] {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': protocolVersion,
    'mcp-method': method,
    // A header cannot have every name. Such a name is sent without a header.
    ...(typeof name === 'string' && /^[\x21-\x7e]{1,4000}$/.test(name) && { 'mcp-name': name }),
  }
}

function metaIn({ _meta }: Readonly<Record<string, unknown>>): object {
  return typeof _meta === 'object' && _meta !== null ? _meta : {}
}
