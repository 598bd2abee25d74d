import { acceptedContent, completable, inputRequired, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { createGate, type Gate } from '@tooling/vitest/gate'

const cities = z.object({ city: z.string() })
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** Notifies subscribers that the tools and a resource have changed. Over HTTP, the server does not do this itself. */
export type NotifyChanges = (server: McpServer, uri: string) => void | Promise<void>

/**
 * Creates servers of the official SDK that use every feature that our client supports. HTTP requires a server for each
 * request, and all of them share the gate of the stopped call.
 */
export function officialServers(notifyChanges: NotifyChanges): () => McpServer {
  const stopped = createGate()
  return () => {
    const server = new McpServer(
      { name: 'official', version: '2.0.0' },
      { capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: true } } },
    )
    addTools(server)
    addWaiting(server, stopped)
    addChanging(server, notifyChanges)
    addPrompts(server)
    addResources(server)
    return server
  }
}

function addTools(server: McpServer): void {
  server.registerTool('greet', { description: 'Greets', inputSchema: z.object({ name: z.string() }) }, ({ name }) =>
    text(`Hello, ${name}!`),
  )
  const sums = {
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ total: z.number() }),
  }
  server.registerTool('sum', { description: 'Adds', ...sums }, ({ a, b }) => ({
    ...text(JSON.stringify({ total: a + b })),
    structuredContent: { total: a + b },
  }))
  server.registerTool('broken', { description: 'Fails', inputSchema: z.object({}) }, () => {
    throw new Error('the disk is full')
  })
  server.registerTool('count', { description: 'Reports', inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [1, 2, 3]) {
      const params = { progressToken: progressToken ?? '', progress, total: 3, message: `step ${progress}` }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    await mcpReq.log('debug', 'a detail')
    await mcpReq.log('warning', { left: 0 }, 'counter')
    return text('counted')
  })
  server.registerTool('travel', { description: 'Asks where to', inputSchema: z.object({}) }, (_, { mcpReq }) => {
    const answer = acceptedContent<{ city: string }>(mcpReq.inputResponses, 'city')
    if (answer !== undefined) return text(`Off to ${answer.city}`)
    return inputRequired({
      inputRequests: { city: inputRequired.elicit({ message: 'Where to?', requestedSchema: cities }) },
      requestState: 'the official state',
    })
  })
}

function addWaiting(server: McpServer, stopped: Gate): void {
  server.registerTool('wait', { description: 'Waits', inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const aborted = new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()))
    const progressToken = mcpReq._meta?.progressToken ?? ''
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    await aborted
    stopped.open()
    return text('too late')
  })
  server.registerTool(
    'stopped',
    { description: 'Answers when a call of wait was cancelled', inputSchema: z.object({}) },
    async () => {
      await stopped.opened
      return text('stopped')
    },
  )
}

function addChanging(server: McpServer, notifyChanges: NotifyChanges): void {
  server.registerTool('change', { description: 'Changes', inputSchema: z.object({}) }, async () => {
    await notifyChanges(server, 'test://one')
    return text('changed')
  })
}

function addPrompts(server: McpServer): void {
  const language = completable(z.string(), (value) => ['go', 'ruby', 'rust'].filter((name) => name.startsWith(value)))
  const review = { description: 'Reviews', argsSchema: z.object({ language }) }
  server.registerPrompt('review', review, (args) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Review this ${args.language}` } }],
  }))
}

function addResources(server: McpServer): void {
  server.registerResource('one', 'test://one', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Text one' }],
  }))
  server.registerResource('bytes', 'test://bytes', {}, (uri) => ({
    contents: [{ uri: uri.href, blob: Buffer.from([0, 255, 10]).toString('base64') }],
  }))
  const complete = { author: (value: string) => ['Ada', 'Adele', 'Grace'].filter((name) => name.startsWith(value)) }
  const template = new ResourceTemplate('book://{author}/{title}', { list: undefined, complete })
  server.registerResource('book', template, {}, (uri, { author, title }) => ({
    contents: [{ uri: uri.href, text: `${String(title)} by ${String(author)}` }],
  }))
}
