import { type Client, type ClientOptions, createClient } from '@x/client'
import type { JsonObject, JsonValue } from '@x/schema'
import { connectAny } from '../client/connect-node.ts'
import type { AnyConnection, ConnectAnyOptions } from '../client/options.ts'
import {
  type ReceivedRequest,
  openStream,
  type ScriptedServer,
  createScriptedServer,
  type ServerScript,
  type ServerStream,
} from './scripted-server.ts'

export const hostInfo = { name: 'host', version: '1.2.3' }
const form = { type: 'object', properties: { name: { type: 'string', default: 'Ada' } } }
/** A user who filled in a form. */
export const createAcceptAnswer = (): { action: 'accept'; content: { name: string } } => ({
  action: 'accept',
  content: { name: 'Grace' },
})

/** A client, and the scripted server that it is connected to. */
export interface ConnectedClient {
  readonly server: ScriptedServer
  readonly client: Client
  readonly connection: AnyConnection
  /** The next call that the server receives, with its request and its stream. */
  readonly nextCall: () => Promise<{
    readonly stream: ServerStream
    readonly id: JsonValue
    readonly arrivedRequest: ReceivedRequest
  }>
}

/** A server that answers each call with a stream that the test writes, and a client of it. */
export function connectScriptedServer(
  client: Partial<ClientOptions> = {},
  options: ConnectAnyOptions = {},
  script: ServerScript = {},
): ConnectedClient {
  const calls: { stream: ServerStream; id: JsonValue; arrivedRequest: ReceivedRequest }[] = []
  const waiters: ((call: (typeof calls)[number]) => void)[] = []
  const handle = (one: ReceivedRequest): Response | Promise<Response> | undefined => {
    const handled = script.handle?.(one)
    if (handled !== undefined) return handled
    if (one.message['method'] !== 'tools/call') return undefined
    const call = { stream: openStream(), id: one.message['id'] ?? null, arrivedRequest: one }
    const waiter = waiters.shift()
    if (waiter === undefined) calls.push(call)
    else waiter(call)
    return call.stream.response
  }
  const server = createScriptedServer({ capabilities: { tools: {}, logging: {} }, ...script, handle })
  const connection = connectAny('https://server.test/mcp', {
    revision: 'older',
    ...options,
    http: { ...options.http, fetch: server.fetch },
  })
  return {
    server,
    connection,
    client: createClient(connection.exchange, { ...hostInfo, ...client }),
    nextCall: () => {
      const known = calls.shift()
      return known === undefined ? new Promise((resolve) => waiters.push(resolve)) : Promise.resolve(known)
    },
  }
}

/** Sends a text as the result, and ends the call's stream. */
export function sendToolResult(
  { stream, id }: { readonly stream: ServerStream; readonly id: JsonValue },
  text = 'done',
): void {
  stream.send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
  stream.close()
}

export function createElicitRequest(id: JsonValue, more: JsonObject = {}): JsonObject {
  const params = { message: 'Name?', requestedSchema: form }
  return { jsonrpc: '2.0', id, method: 'elicitation/create', params, ...more }
}
