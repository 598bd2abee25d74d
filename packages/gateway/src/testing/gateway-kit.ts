import { type Call, createCall } from '@x/exchange'
import type { JsonObject, RpcNotification, RpcResponse } from '@x/schema'
import { createServer, type McpServer, prompt, resource, resourceTemplate, tool } from '@x/server'
import { sealedState } from '@x/state-codec'
import { z } from 'zod'
import { type Gateway, gateway, type GatewayOptions } from '../index.ts'
import { createRequest } from './scripted-upstream.ts'

const keys = ['6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b']

export function createGateway(upstreams: GatewayOptions['upstreams'], more: Partial<GatewayOptions> = {}): Gateway {
  return gateway({ name: 'company', version: '1.0.0', state: sealedState({ keys }), upstreams, log: () => {}, ...more })
}

export const callOf = (subject: string): Call => createCall({ principal: { subject } })

/** Sends a host's request. Resolves with its result. */
export async function resultOf(
  server: Pick<Gateway, 'exchange'>,
  method: string,
  params: object = {},
  call: Call = createCall(),
): Promise<JsonObject> {
  const response = await server.exchange(createRequest(method, params), call)
  if ('error' in response) throw new Error(JSON.stringify(response.error))
  return response.result
}

/** Sends a host's request. Resolves with its error. */
export async function errorOf(
  server: Pick<Gateway, 'exchange'>,
  method: string,
  params: object = {},
  call: Call = createCall(),
): Promise<object> {
  const response: RpcResponse = await server.exchange(createRequest(method, params), call)
  if ('result' in response) throw new Error(`No error: ${JSON.stringify(response.result)}`)
  return response.error
}

/** Names, or URIs, of a result's items. */
export function namesIn(result: JsonObject, items: string, member = 'name'): unknown[] {
  const list = result[items]
  return Array.isArray(list) ? list.map((item) => item[member]) : []
}

/** A stream of changes, with the notifications that arrived on it. */
export interface OpenedStream {
  readonly arrived: readonly RpcNotification[]
  /** Which methods arrived, without their common prefix. */
  readonly methods: () => readonly string[]
  readonly ended: Promise<RpcResponse>
  readonly close: () => void
}

export function openStream(
  server: Pick<Gateway, 'exchange'>,
  notifications: object,
  { principal }: Partial<Call> = {},
): OpenedStream {
  const controller = new AbortController()
  const arrived: RpcNotification[] = []
  const notify = (message: RpcNotification): void => void arrived.push(message)
  const request = createRequest('subscriptions/listen', { notifications })
  const ended = server.exchange(request, createCall({ signal: controller.signal, principal, notify }))
  ended.catch(() => {})
  const methods = (): string[] => arrived.map(({ method }) => method.replace('notifications/', ''))
  return { arrived, methods, ended, close: () => controller.abort(new Error('closed')) }
}

const named = z.object({ name: z.string() })

/** A server in this process with one item of each kind. */
export function createNotes(name: string): McpServer {
  return createServer({
    name,
    version: '2.0.0',
    instructions: `Use ${name}.`,
    state: sealedState({ keys }),
    tools: [
      tool('add', {
        description: `Adds to ${name}`,
        run: (_, ctx) => `${name} for ${ctx.principal?.subject ?? 'all'}`,
      }),
      tool('ask', {
        description: 'Asks for a name',
        run: async (_, ctx) => (await ctx.elicit('name', { message: 'Who?', schema: named })).name,
      }),
      tool('links', {
        description: 'Returns links',
        run: () => ({
          content: [
            { type: 'resource_link' as const, uri: 'note://first', name: 'first' },
            { type: 'resource' as const, resource: { uri: 'note://inner', text: 'see note://first' } },
            { type: 'text' as const, text: 'see note://first' },
          ],
        }),
      }),
      tool('logs', {
        description: 'Logs',
        run: (_, ctx) => {
          ctx.log('warning', 'one', 'counter')
          ctx.log('warning', 'two')
          return 'done'
        },
      }),
    ],
    prompts: [
      prompt('review', {
        description: 'Reviews',
        input: z.object({ language: z.string() }),
        complete: { language: () => [name] },
        run: ({ language }) => `${name} reviews ${language}`,
      }),
    ],
    resources: [resource('note://first', { name: 'first', read: () => `first of ${name}` })],
    resourceTemplates: [resourceTemplate('note://{id}', { name: 'note', read: ({ id }) => `${id} of ${name}` })],
    log: () => {},
  })
}
