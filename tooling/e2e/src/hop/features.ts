import { legacy } from '@x/legacy'
import type { ServerExtension } from '@x/exchange'
import { McpError } from '@x/schema'
import {
  createServer,
  type McpServer,
  prompt,
  resource,
  resourceTemplate,
  sealedState,
  tool,
  ToolError,
} from '@x/server'
import { internalSettings } from '@x/server/internals'
import { sessions } from '@x/sessions/server'
import { z } from 'zod'
import { pageTool, paintTask, skillsAndPages, tasksInMemory } from './extensions.ts'

/** All processes of the server share one key, so that each can open the request state of the others. */
const key = '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'

const name = z.object({ name: z.string() })
/** A session of the data layer that stores a list of items. */
const basket = sessions({ state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } } })

/** Creates a server that uses every feature that a hop passes, for clients of all revisions. */
export function createFeatures(): McpServer {
  const seen: string[] = []
  const touch = tool('touch', {
    description: 'Changes a resource and the list of tools',
    run: async () => {
      await server.notifyResourceUpdated('note://first')
      await server.notifyListChanged('tools')
      return 'touched'
    },
  })
  const server: McpServer = createServer({
    name: 'features',
    version: '1.2.3',
    instructions: 'Be kind.',
    state: sealedState({ keys: [key] }),
    tools: [...plainTools(), ...askingTools(), ...cancelledTools(), touch, pageTool, paintTask],
    prompts: [
      prompt('review', {
        description: 'Reviews code',
        input: z.object({ language: z.string() }),
        complete: { language: (value) => ['go', 'ruby', 'rust'].filter((each) => each.startsWith(value)) },
        run: ({ language }) => `Review this ${language}`,
      }),
    ],
    resources: [
      resource('note://first', {
        name: 'first',
        cache: { ttlMs: 60_000, scope: 'public' },
        read: () => 'the first note',
      }),
    ],
    resourceTemplates: [resourceTemplate('note://{id}', { name: 'note', read: ({ id }) => `note ${id}` })],
    ...internalSettings({ pageSize: 5 }),
    extensions: [countingExtension(seen), basket, ...skillsAndPages(), tasksInMemory(), legacy()],
    log: (record) => {
      if (record.level === 'error') console.error(record.message, record.err)
    },
  })
  return server
}

function countingExtension(seen: string[]): ServerExtension<'counting', object> {
  return {
    extends: 'server',
    name: 'counting',
    identifier: 'com.example/counting',
    capabilities: {},
    notifications: ['com.example/seen'],
    start: () => ({
      api: {},
      methods: { 'com.example/count': () => ({ count: seen.length }) },
      receive: ({ method }) => void seen.push(method),
    }),
  }
}

function plainTools() {
  return [
    tool('sum', {
      description: 'Adds',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ total: z.number() }),
      run: ({ a, b }) => ({ total: a + b }),
    }),
    tool('fail', {
      description: 'Fails',
      run: () => {
        throw new ToolError('the disk is full')
      },
    }),
    tool('refuse', {
      description: 'Fails with a custom error',
      run: () => {
        throw new McpError(-31_007, 'no such moon', { data: { moon: 'ix' } })
      },
    }),
    tool('steps', {
      description: 'Reports progress and logs',
      run: (_, ctx) => {
        for (const step of [1, 2, 3]) ctx.progress(step, 3, `step ${step}`)
        ctx.log('warning', { left: 0 }, 'counter')
        return 'done'
      },
    }),
    tool('deploy', {
      description: 'Has an argument that a header repeats',
      input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
      run: ({ region }) => region,
    }),
    tool('links', {
      description: 'Returns a link and a resource',
      run: () => ({
        content: [
          { type: 'resource_link' as const, uri: 'note://first', name: 'first' },
          { type: 'resource' as const, resource: { uri: 'note://inner', text: 'inner' } },
        ],
      }),
    }),
    tool('caller', {
      description: 'Returns the client name and the trace context of the request',
      run: (_, ctx) => JSON.stringify([ctx.client.info?.name, ctx.meta['traceparent']]),
    }),
    tool('put', {
      description: 'Puts an item into the basket of the session',
      input: z.object({ item: z.string() }),
      run({ item }, ctx) {
        const session = basket.of(ctx)
        session.setState({ items: [...session.state.items, item] })
        return session.state.items.join(' ')
      },
    }),
  ]
}

function askingTools() {
  return [
    tool('ask', {
      description: 'Asks for a name',
      run: async (_, ctx) => (await ctx.elicit('name', { message: 'Who?', schema: name })).name,
    }),
    tool('ask-twice', {
      description: 'Asks for two names in turn',
      async run(_, ctx) {
        const first = await ctx.elicit('first', { message: 'Who is first?', schema: name })
        const second = await ctx.elicit('second', { message: `Who follows ${first.name}?`, schema: name })
        return `${first.name} ${second.name}`
      },
    }),
    tool('sample', {
      description: 'Samples the model of the client',
      run: (_, ctx) =>
        ctx.sampleText('text', {
          maxTokens: 10,
          messages: [{ role: 'user', content: { type: 'text', text: 'Say something' } }],
        }),
    }),
    tool('roots', {
      description: 'Lists the roots of the client',
      run: async (_, ctx) => (await ctx.roots('roots')).map(({ uri }) => uri).join(),
    }),
  ]
}

function cancelledTools() {
  let cancelled = 0
  return [
    tool('wait', {
      description: 'Waits until it is cancelled',
      async run(_, ctx) {
        ctx.progress(1)
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        cancelled += 1
        return 'cancelled'
      },
    }),
    tool('cancelled', { description: 'Counts cancelled calls', run: () => String(cancelled) }),
  ]
}
