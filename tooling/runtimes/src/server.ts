import { legacy } from '@x/legacy'
import { createServer, type McpServer, resource, sealedState, type Tool, tool } from '@x/server'
import { platformKey } from '@x/transport-http'
import * as z from 'zod'

const text = (field: string) => z.object({ [field]: z.string() })

const add = tool('add', {
  description: 'Adds two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => String(a + b),
})

const book = tool('book', {
  description: 'Books a room, after two questions',
  async run(_, ctx) {
    const { day } = await ctx.elicit('day', { message: 'Which day?', schema: text('day') })
    const { room } = await ctx.elicit('room', { message: `Which room on ${day}?`, schema: text('room') })
    return `${room} on ${day}`
  },
})

const count = tool('count', {
  description: 'Counts to three, with progress',
  run(_, ctx) {
    for (const step of [1, 2, 3]) ctx.progress(step, 3)
    return 'counted'
  },
})

const deploy = tool('deploy', {
  description: 'Has a parameter that a header repeats',
  input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
  run: ({ region }) => `deployed to ${region}`,
})

/** Creates two tools. The second one ends calls of the first one. */
function createFinishTools(): Tool[] {
  const unfinished = new Map<string, () => void>()
  const finishLater = tool('finish_later', {
    description: 'Reports progress, and waits for "finish"',
    input: z.object({ id: z.string() }),
    async run({ id }, ctx) {
      ctx.progress(1)
      await new Promise<void>((resolve) => unfinished.set(id, resolve))
      return 'finished'
    },
  })
  const finish = tool('finish', {
    description: 'Ends a call of "finish_later"',
    input: z.object({ id: z.string() }),
    run({ id }) {
      unfinished.get(id)?.()
      return 'finished'
    },
  })
  return [finishLater, finish]
}

type CallStates = Map<string, 'running' | 'cancelled' | 'finished'>

/** Creates tools, and one that returns the state of their calls. */
function createObservedTools(): Tool[] {
  const calls: CallStates = new Map()
  const wait = tool('wait', {
    description: 'Waits until it is cancelled',
    input: z.object({ id: z.string(), progress: z.boolean() }),
    async run({ id, progress }, ctx) {
      calls.set(id, 'running')
      if (progress) ctx.progress(1)
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      calls.set(id, 'cancelled')
      return 'cancelled'
    },
  })
  const background = tool('background', {
    description: 'Starts work that ends after the response',
    input: z.object({ id: z.string() }),
    run({ id }, ctx) {
      calls.set(id, 'running')
      const work = new Promise((resolve) => setTimeout(resolve, 300)).then(() => calls.set(id, 'finished'))
      ctx.context.get(platformKey)?.waitUntil(work)
      return 'started'
    },
  })
  const rest = tool('rest', {
    description: 'Responds after a time without output',
    input: z.object({ milliseconds: z.number().max(60_000), id: z.string().optional() }),
    async run({ milliseconds, id }) {
      if (id !== undefined) calls.set(id, 'running')
      await new Promise((resolve) => setTimeout(resolve, milliseconds))
      return 'rested'
    },
  })
  const stateOf = tool('state_of', {
    description: 'Returns the state of a call of "wait", "background" or "rest"',
    input: z.object({ id: z.string() }),
    run: ({ id }) => calls.get(id) ?? 'unknown',
  })
  return [wait, background, rest, stateOf]
}

/** Creates the server that every runtime serves. */
export function createRuntimeServer(): McpServer {
  const delay = tool('delay', {
    description: 'Returns the measured delay of the event loop, in milliseconds',
    async run(_, ctx) {
      await ctx.step('measure', () => 1)
      return String(server.load.eventLoopDelayMs)
    },
  })
  const change = tool('change', {
    description: 'Changes the resource',
    async run() {
      await server.notifyResourceUpdated('runtime://value')
      return 'changed'
    },
  })
  const changeTools = tool('change_tools', {
    description: 'Changes the list of tools',
    async run() {
      await server.notifyListChanged('tools')
      return 'changed'
    },
  })
  const server: McpServer = createServer({
    name: 'runtime',
    version: '1.0.0',
    state: sealedState({ keys: ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef'] }),
    tools: [add, book, change, changeTools, count, delay, deploy, ...createObservedTools(), ...createFinishTools()],
    extensions: [legacy()],
    resources: [resource('runtime://value', { name: 'Value', read: () => 'value' })],
  })
  return server
}
