import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import type { Server, ServerExtension } from '@x/exchange'
import { type Context, createServer, type Tool, tool } from '@x/server'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { httpHandler } from '@x/transport-http'
import * as z from 'zod'
import { keys, stateWith } from './asking.ts'

const name = z.object({ name: z.string() })
const names = z.object({ names: z.array(z.enum(['a', 'b'])) })
const hello = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 } as const
const page = { message: 'Look', url: 'https://example.com/' }
export const uiExtension = 'io.modelcontextprotocol/ui'

const describeTool = (
  toolName: string,
  run: (args: unknown, ctx: Context) => string | Promise<string>,
  task?: 'allowed' | 'required' | 'never',
): Tool => tool(toolName, { description: toolName, run, ...(task && { task }) })

const tools = [
  describeTool('form', async (_, ctx) => (await ctx.elicit('name', { message: 'Who?', schema: name })).name),
  describeTool('two_forms', async (_, ctx) => {
    const first = await ctx.elicit('first', { message: 'Who?', schema: name })
    const size = await ctx.step('measure', () => first.name.length)
    const second = await ctx.elicit('second', { message: 'And?', schema: name })
    return `${first.name} ${size} ${second.name}`
  }),
  describeTool('many', async (_, ctx) => (await ctx.elicit('names', { message: 'Who?', schema: names })).names.join()),
  describeTool('page', async (_, ctx) => {
    await ctx.elicitUrl('page', page)
    return 'seen'
  }),
  describeTool('model', (_, ctx) => ctx.sampleText('model', hello)),
  describeTool('folders', async (_, ctx) => (await ctx.roots('roots')).map(({ uri }) => uri).join()),
  describeTool('pages', (_, ctx) => String(ctx.can(uiExtension))),
  describeTool('who', (_, { client: { version, info } }) => `${version} ${info?.name} ${info?.title}`),
  ...(['never', 'allowed', 'required'] as const).flatMap((choice) => [
    describeTool(`task_${choice}`, () => 'done', choice),
    describeTool(
      `asking_task_${choice}`,
      async (_, ctx) => (await ctx.elicit('name', { message: 'Who?', schema: name })).name,
      choice,
    ),
    describeTool(`later_task_${choice}`, async (_, ctx) => {
      const { name: who } = await ctx.elicit('name', { message: 'Who?', schema: name })
      return `${who} ${await ctx.continueAsTask(choice)}`
    }),
  ]),
]

const counting: ServerExtension<'counting', object> = {
  extends: 'server',
  name: 'counting',
  identifier: 'com.example/counting',
  start: () => ({ api: {}, methods: { 'com.example/count': () => ({ count: 3 }) } }),
}

/** Creates a server whose tools depend on the capabilities of their client. */
export function serve(): Server {
  const extensions = [tasks({ store: memoryEngine() }), counting, legacy()]
  return createServer({ name: 'served', version: '1.0.0', state: stateWith(keys.first), tools, extensions })
}

/** Puts a proxy in front of the server that speaks 2025-11-25 to it. */
export function serveBehindProxy(): Server {
  const handler = httpHandler(serve())
  const fetch = (url: string, init: RequestInit): Promise<Response> => handler(new Request(url, init))
  const connect = () => connectAny('http://localhost/mcp', { revision: 'older', http: { fetch } })
  return proxy({ connect }, { name: 'proxy', version: '1.0.0', extensions: [legacy()], state: stateWith(keys.first) })
}
