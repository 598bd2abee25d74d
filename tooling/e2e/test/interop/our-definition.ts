import { legacy } from '@x/legacy'
import type { ServerExtension } from '@x/exchange'
import {
  createServer,
  type Log,
  prompt,
  resource,
  resourceTemplate,
  type McpServer,
  type ServerDefinition,
  type Tool,
  tool,
  ToolError,
} from '@x/server'
import { internalSettings } from '@x/server/internals'
import * as z from 'zod'
import { keys, resolveTool, stateWith } from '../asking.ts'
import { createGate } from '@tooling/vitest/gate'
import { waitingTool } from '../waiting-tool.ts'

const languages = ['go', 'ruby', 'rust']

/** Creates a server that uses every feature that the official client supports. A tool makes it notify changes. */
export function ourServer(): McpServer {
  return createOurServer([])
}

/** Creates the same server for clients of older revisions too. */
export function ourServerOfBothEras(): McpServer {
  return createOurServer([legacy()])
}

function createOurServer(extensions: readonly ServerExtension[]): McpServer {
  const change = tool('change', {
    description: 'Notifies changes of the tools and of a resource',
    run: async () => {
      await server.notifyListChanged('tools')
      await server.notifyResourceUpdated('test://one')
      return 'changed'
    },
  })
  const definition = ourDefinition()
  const tools = [...(definition.tools ?? []), change]
  const server: McpServer = createServer({ ...definition, tools, extensions, log: logErrors })
  return server
}

/** The questions of this server cause warnings of the extension for older clients. */
const logErrors: Log = (record) => {
  if (record.level === 'error') console.error(record.message, record.err)
}

function ourDefinition(): ServerDefinition {
  return {
    name: 'ours',
    version: '1.0.0',
    tools: [...plainTools(), ...waitingTools(), resolveTool()],
    ...promptsAndResources(),
    ...internalSettings({ pageSize: 2 }),
    state: stateWith(keys.first),
  }
}

function plainTools(): Tool[] {
  return [
    tool('greet', {
      description: 'Greets',
      input: z.object({ name: z.string() }),
      run: ({ name }) => `Hello, ${name}!`,
    }),
    tool('sum', {
      description: 'Adds',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ total: z.number() }),
      run: ({ a, b }) => ({ total: a + b }),
    }),
    tool('broken', {
      description: 'Fails',
      run: () => {
        throw new ToolError('the disk is full')
      },
    }),
    tool('deploy', {
      description: 'Has an argument that a header repeats',
      input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
      run: ({ region }) => region,
    }),
  ]
}

/** Creates tools that end when another tool is called, so that a test can wait for an event. */
function waitingTools(): Tool[] {
  const { waits, stopped } = waitingTool('wait')
  const received = createGate()
  return [
    tool('count', {
      description: 'Reports progress and logs, and waits for a call of received',
      run: async (_, ctx) => {
        for (const step of [1, 2, 3]) ctx.progress(step, 3, `step ${step}`)
        ctx.log('debug', 'a detail')
        ctx.log('warning', { left: 0 }, 'counter')
        await received.opened
        return 'counted'
      },
    }),
    tool('received', { description: 'Lets a call of count end', run: () => (received.open(), 'received') }),
    waits,
    tool('stopped', {
      description: 'Answers when a call of wait was cancelled',
      run: () => stopped.opened.then(() => 'stopped'),
    }),
  ]
}

function promptsAndResources(): Pick<ServerDefinition, 'prompts' | 'resources' | 'resourceTemplates'> {
  const prompts = [
    prompt('review', {
      description: 'Reviews',
      input: z.object({ language: z.string() }),
      complete: { language: (value) => languages.filter((name) => name.startsWith(value)) },
      run: ({ language }) => `Review this ${language}`,
    }),
    prompt('plain', { description: 'Takes nothing', run: () => 'Well?' }),
    prompt('third', { description: 'Makes a second page', run: () => 'And?' }),
  ]
  const resources = ['one', 'two', 'three'].map((name) =>
    resource(`test://${name}`, { name, mimeType: 'text/plain', read: () => `Text ${name}` }),
  )
  const bytes = resource('test://bytes', { name: 'bytes', read: () => Uint8Array.of(0, 255, 10) })
  const template = resourceTemplate('book://{author}/{title}', {
    name: 'book',
    complete: { author: (value) => ['Ada', 'Adele', 'Grace'].filter((name) => name.startsWith(value)) },
    read: ({ author, title }) => `${title} by ${author}`,
  })
  return { prompts, resources: [...resources, bytes], resourceTemplates: [template] }
}
