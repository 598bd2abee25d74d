import { isJsonObject, type JsonObject } from '@x/schema'
import { type Tool, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { z } from 'zod'
import type { LegacyOptions } from '../server/session/options.ts'
import { type EventReader, createRpcRequest, type ScriptedClient, createScriptedClient } from './scripted-client.ts'
import { createLegacyServer } from './serve-legacy.ts'

export const nameSchema = z.object({ name: z.string() })
/** For a client that can be asked all kinds of questions. */
export const allCapabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/** What the server offers, and which revision and capabilities the client has. */
export interface ConnectOptions {
  readonly tools: readonly Tool[]
  readonly capabilities?: JsonObject
  readonly revision?: string
  readonly options?: LegacyOptions
}

/** A server with tools, and a client that has sent it `initialize`. */
export async function connectScriptedClient({
  tools,
  capabilities = allCapabilities,
  revision,
  options,
}: ConnectOptions): Promise<ScriptedClient> {
  const server = createLegacyServer({ tools, strictReplay: false }, options)
  const client = createScriptedClient(httpHandler(server), revision)
  await client.initialize({ capabilities })
  return client
}

export function createToolCall(
  name: string,
  args: JsonObject = {},
  meta?: JsonObject,
): ReturnType<typeof createRpcRequest> {
  return createRpcRequest('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) })
}

export async function readServerRequest(
  events: EventReader,
): Promise<JsonObject & { readonly id: string; readonly method: string }> {
  const message = await events.readMessage()
  if (typeof message?.['id'] !== 'string' || typeof message['method'] !== 'string')
    throw new Error(`no request but ${JSON.stringify(message)}`)
  return { ...message, id: message['id'], method: message['method'] }
}

export function answerOf(id: string, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

/** Text of a tool's result, or the message itself if it has no text. */
export function textIn(message: JsonObject | undefined): unknown {
  const result = message?.['result']
  const content = isJsonObject(result) ? result['content'] : undefined
  return Array.isArray(content) && isJsonObject(content[0]) ? content[0]['text'] : message
}

/** Asks for a name, and returns the whole answer. */
export const greetTool = tool('greet', {
  description: 'Asks for a name',
  run: async (_, ctx) => {
    const answer = await ctx.elicitResult('name', { message: 'Name?', schema: nameSchema })
    return JSON.stringify(answer)
  },
})

/** Asks for two names in turn, with a step after each that records the name. */
export function createPairTool(steps: string[]): Tool {
  return tool('pair', {
    description: 'Asks for two names, with a step after each',
    run: async (_, ctx) => {
      const first = await ctx.elicit('first', { message: 'The first?', schema: nameSchema })
      await ctx.step('work', () => void steps.push(first.name))
      const second = await ctx.elicit('second', { message: 'The second?', schema: nameSchema })
      await ctx.step('more', () => void steps.push(second.name))
      return `${first.name} and ${second.name}`
    },
  })
}

/** Asks the user and the model at the same time. */
export const elicitAndSampleTool = tool('both', {
  description: 'Asks user and model at once',
  run: async (_, ctx) => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const
    const [{ name }, { model }] = await Promise.all([
      ctx.elicit('name', { message: 'Name?', schema: nameSchema }),
      ctx.sample('model', { messages, maxTokens: 1 }),
    ])
    return `${name} by ${model}`
  },
})
