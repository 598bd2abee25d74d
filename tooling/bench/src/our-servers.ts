import { createServer as createHttpServer } from 'node:http'
import { createCall, type Server } from '@x/exchange'
import { createServer, form, type McpServer, sealedState, type ServerDefinition, type Tool, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { nodeHandler } from '@x/transport-http/node'
import * as z from 'zod'
import { userHeader } from './flow-calls.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import { type Programs, startServer } from './processes.ts'

const names = { name: 'bench', version: '1.0.0' } as const

/** The tool of the measured calls. It has validated arguments, and repeats a text. */
export const echoTool = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  run: ({ text, times }) => text.repeat(times),
})

/** Creates a server with the echo tool in the middle of others, which each have their own schema. */
export function toolsServer(count: number): McpServer {
  const others: Tool[] = Array.from({ length: count - 1 }, (_, index) => {
    const times = z.number().int().min(1)
    return tool(`tool-${index}`, {
      description: `Runs operation ${index}, and reports its duration`,
      input: z.object({ text: z.string().describe('The subject of the operation'), times: times.max(10 + index) }),
      run: ({ text }) => text,
    })
  })
  return createServer({ ...names, tools: others.toSpliced(count >> 1, 0, echoTool) })
}

/** Returns the text of the response to a request. */
export async function answerInMemory({ exchange }: Server, body: string): Promise<string> {
  return JSON.stringify(await exchange(JSON.parse(body), createCall({ principal: { subject: 'ada' } })))
}

const description = 'Resolves a bug'
const input = z.object({ id: z.number().int() })
const [howMessage, bugMessage] = ['How was it resolved?', 'Which bug does it repeat?']
const resolution = form(z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }))
const original = form(z.object({ id: z.number().int() }))

const resolveBug = tool('resolve_bug', {
  description,
  input,
  async run({ id }, ctx) {
    const how = await ctx.elicit('resolution', { message: howMessage, schema: resolution })
    const bug = await ctx.elicit('original', { message: bugMessage, schema: original })
    return `#${id} is ${how.resolution} of #${bug.id}`
  },
})

/** The same tool with schemas that it builds in each run. */
const resolveBugInline = tool('resolve_bug', {
  description,
  input,
  async run({ id }, ctx) {
    const resolution = z.object({ resolution: z.enum(['Fixed', 'Duplicate']) })
    const how = await ctx.elicit('resolution', { message: howMessage, schema: resolution })
    const bug = await ctx.elicit('original', { message: bugMessage, schema: z.object({ id: z.number().int() }) })
    return `#${id} is ${how.resolution} of #${bug.id}`
  },
})

/** Creates a server with sealed state, whose tool asks two questions. */
export function flowServer(schemas = '', extensions: ServerDefinition['extensions'] = []): McpServer {
  return createServer({
    ...names,
    state: sealedState({ keys: [randomKey()] }),
    // Ignores the warning about schemas that are built in each run.
    log: () => {},
    tools: [schemas === 'inline' ? resolveBugInline : resolveBug],
    extensions,
  })
}

const measureText = tool('measure_text', {
  description: 'Counts the characters of a text',
  input: z.object({ text: z.string() }),
  run: ({ text }) => `${text.length} characters`,
})

const work = tool('work', {
  description: 'Reports its progress',
  input: { type: 'object' },
  run: (_args, ctx) => {
    for (let done = 1; done <= 1000; done++) ctx.progress(done, 1000)
    return 'done'
  },
})

/** Our servers, as the guides show them. */
export const programs: Programs = {
  tools: (count = '1') => serve(toolsServer(Number(count))),
  text: () => serve(createServer({ ...names, tools: [measureText] })),
  fetch: serveFetch,
  progress: serveProgress,
  flow: (schemas?: string) => serveFlow(flowServer(schemas)),
  'flow-older': async () => serveFlow(flowServer('', [(await import('@x/legacy')).legacy()])),
  streams: serveStreams,
  echoes: () => serve(createServer({ ...names, tools: ['echo', 'one__echo'].map((name) => ({ ...echoTool, name })) })),
  proxy: serveProxy,
  gateway: serveGateway,
}

function serve(server: Server, change?: () => void): Promise<void> {
  return serveMeasured(createHttpServer(nodeHandler(server)), change)
}

async function serveFetch(): Promise<void> {
  const { getRequestListener } = await import('@hono/node-server')
  const { httpHandler } = await import('@x/transport-http')
  const handle = httpHandler(createServer({ ...names, tools: [echoTool] }))
  await serveMeasured(createHttpServer(getRequestListener(handle)))
}

/** The limit of messages a second is raised, so that nothing is dropped. */
async function serveProgress(): Promise<void> {
  const { internalSettings } = await import('@x/server/internals')
  const unlimited = internalSettings({ maxNotificationsPerSecond: 1_000_000 })
  await serve(createServer({ ...names, tools: [work], ...unlimited }))
}

/** Serves the flow over HTTP. A header names the principal. */
async function serveFlow(server: Server): Promise<void> {
  const handle = nodeHandler(server, {
    auth: (request) => {
      const subject = request.header(userHeader)
      return subject !== undefined ? { subject } : { status: 401, message: 'Log in' }
    },
  })
  await serveMeasured(createHttpServer(handle))
}

async function serveStreams(): Promise<void> {
  const echo = tool('echo', { description: 'Returns a text', run: () => 'something' })
  // All streams have the same caller, because one process opens them.
  const server = createServer({ ...names, tools: [echo], limits: { streams: 10_000 } })
  await serve(server, () => void server.notifyListChanged('tools'))
}

/** An upstream is a process on the core of the load. */
async function serveProxy(upstream: string): Promise<void> {
  const { proxy } = await import('@x/gateway')
  const { connectAny } = await import('@x/legacy/client')
  const { url } = await startServer(`our-servers/${upstream}`, { core: 1 })
  await serve(proxy({ connect: () => connectAny(url) }, names))
}

async function serveGateway(): Promise<void> {
  const { gateway } = await import('@x/gateway')
  const { connectAny } = await import('@x/legacy/client')
  const start = () => startServer('our-servers/echoes', { core: 1 })
  const [one, two] = [await start(), await start()]
  const upstreams = { one: { connect: () => connectAny(one.url) }, two: { connect: () => connectAny(two.url) } }
  await serve(gateway({ ...names, state: sealedState({ keys: [randomKey()] }), upstreams }))
}
