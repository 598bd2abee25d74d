import { createCall } from '@x/exchange'
import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { createServer, resourceTemplate, tool } from '@x/server'
import { randomKey, sealedState } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import { z } from 'zod'

export interface Answer {
  readonly action: 'accept'
  readonly content: JsonObject
}

/** A server for measurements, and the ways to send it an input. Each way returns a function that sends it once. */
export interface GrowthServer {
  post(args: JsonObject, headers?: Readonly<Record<string, string>>): () => Promise<string>
  callTool(args: JsonObject, params?: object): () => Promise<unknown>
  send(method: string, params: object): () => Promise<unknown>
}

export function createGrowthServer(): GrowthServer {
  const work = tool('work', {
    description: 'Has an input of any kind',
    input: z.object({ text: z.string().optional(), rows: z.array(z.object({ a: z.number() })).optional() }),
    run: () => 'done',
  })
  const page = resourceTemplate('a://{b}/{c}/{+d}', { name: 'page', read: () => 'text' })
  const server = createServer({
    name: 'growth',
    version: '1.0.0',
    state: sealedState({ keys: [randomKey()] }),
    tools: [work],
    resourceTemplates: [page],
    log: () => {},
  })
  const handle = httpHandler(server, { allowedHosts: '*' })
  const _meta = {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientCapabilities]: {},
    [metaKeys.clientInfo]: { name: 'growth', version: '1.0.0' },
  }
  const send = (method: string, params: object) => () =>
    server.exchange({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, createCall())
  return {
    send,
    callTool: (args, params) => send('tools/call', { name: 'work', arguments: args, ...params }),
    post: (args, headers) => {
      const params = { name: 'work', arguments: args, _meta }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const own = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': protocolVersion,
        'mcp-method': 'tools/call',
        'mcp-name': 'work',
        ...headers,
      }
      return async () =>
        (await handle(new Request('http://127.0.0.1/mcp', { method: 'POST', headers: own, body }))).text()
    },
  }
}
