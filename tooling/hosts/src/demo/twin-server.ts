// The same server on the official SDK. A cell that fails here too is no fault of ours.
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { dot, environment, manyTools, texts } from './texts.ts'

const { port, events, many, searches, issuer, resourceUrl } = environment(process.env)
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

function createTwin(): McpServer {
  const server = new McpServer({ name: 'demo', version: '1.0.0' })
  addAnswers(server)
  addQuestions(server)
  addWork(server)
  if (searches) addSearch(server)
  else for (const title of manyTools(many)) server.registerTool(title, { description: title }, () => text(title))
  const meta = { mimeType: 'text/plain' }
  server.registerResource('Changelog', texts.uri, meta, () => ({
    contents: [{ uri: texts.uri, text: texts.changelog }],
  }))
  const argsSchema = { language: z.string() }
  server.registerPrompt('critique', { description: 'Asks for a review', argsSchema }, ({ language }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: texts.review(language) } }],
  }))
  return server
}

function addAnswers(server: McpServer): void {
  const inputSchema = { name: z.string() }
  server.registerTool('greet', { description: 'Greets', inputSchema }, ({ name }) => text(texts.greeting(name)))
  const outputSchema = { celsius: z.number() }
  server.registerTool('weather', { description: 'Weather of a place', outputSchema }, () => ({
    ...text(JSON.stringify({ celsius: texts.celsius })),
    structuredContent: { celsius: texts.celsius },
  }))
  server.registerTool('picture', { description: 'A picture, and a link' }, () => ({
    content: [
      { type: 'image', data: dot, mimeType: 'image/png' },
      { type: 'resource_link', uri: texts.uri, name: 'Changelog' },
    ],
  }))
  server.registerTool('fail', { description: 'Fails' }, () => ({ ...text(texts.failure), isError: true }))
  server.registerTool('ship', { description: 'Ships' }, () => text(texts.shipped))
  const union = {
    kind: z.enum(['square', 'rectangle']),
    side: z.number().optional(),
    width: z.number().optional(),
    height: z.number().optional(),
  }
  server.registerTool('shape', { description: 'The area of a shape', inputSchema: union }, (it) =>
    text(texts.area(it.side === undefined ? (it.width ?? 0) * (it.height ?? 0) : it.side ** 2)),
  )
}

function addQuestions(server: McpServer): void {
  const askFor = async (field: string, message: string): Promise<string> => {
    const properties = { [field]: { type: 'string' as const } }
    const requestedSchema = { type: 'object' as const, properties, required: [field] }
    const { action, content } = await server.server.elicitInput({ message, requestedSchema })
    return action === 'accept' ? String(content?.[field]) : action
  }
  server.registerTool('ask', { description: 'Asks for a name' }, async () =>
    text(texts.greeting(await askFor('name', texts.question))),
  )
  server.registerTool('book', { description: 'Asks for a name and a city' }, async () => {
    const name = await askFor('name', texts.question)
    return text(texts.booked(name, name.length, await askFor('city', texts.secondQuestion)))
  })
  server.registerTool('sign_in', { description: 'Sends the user to a page' }, async () => {
    const page = { mode: 'url' as const, message: texts.page, url: texts.pageUrl, elicitationId: randomUUID() }
    const { action } = await server.server.elicitInput(page)
    return text(action === 'accept' ? texts.signedIn : action)
  })
}

function addWork(server: McpServer): void {
  server.registerTool('copy', { description: 'Copies three files' }, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken
    for (const file of [1, 2, 3]) {
      const params = { progress: file, total: 3, message: texts.progress(file) }
      if (progressToken !== undefined)
        await sendNotification({ method: 'notifications/progress', params: { progressToken, ...params } })
      await delay(texts.progressMs)
    }
    return text(texts.copied)
  })
  server.registerTool('wait', { description: 'Waits a minute' }, async ({ signal }) => {
    appendFileSync(events, 'started\n')
    signal.addEventListener('abort', () => appendFileSync(events, 'cancelled\n'))
    await delay(60_000, undefined, { signal })
    return text('waited')
  })
  server.registerTool('grow', { description: 'Adds the tool "grown"' }, () => {
    server.registerTool('grown', { description: 'Comes later' }, () => text(texts.grown))
    return text('Added')
  })
}

/** The tools that a search lists, so that a host which cannot call these can be told from a search that does not work. */
function addSearch(server: McpServer): void {
  const search = { description: 'Finds tools', inputSchema: { query: z.string() } }
  server.registerTool('search_tools', search, () => text(JSON.stringify({ tools: [{ name: 'shape' }] })))
  const call = { inputSchema: { name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() } }
  server.registerTool('call_read_only_tool', { description: 'Calls', ...call }, () => text(String(texts.celsius)))
  server.registerTool('call_tool', { description: 'Calls', ...call }, ({ arguments: { side } = {} }) =>
    text(texts.area(Number(side) ** 2)),
  )
}

const sessions = new Map<string, StreamableHTTPServerTransport>()

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (issuer !== undefined && resourceUrl !== undefined) {
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', resourceUrl)
    if (request.url === metadata.pathname)
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ resource: resourceUrl, authorization_servers: [issuer], scopes_supported: ['demo:use'] }))
    // It is compared for what the host sends, so any token will do.
    if (request.headers.authorization === undefined)
      return void response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata.href}"` }).end()
  }
  const body = request.method === 'POST' ? await json(request) : undefined
  const id = request.headers['mcp-session-id']
  const known = typeof id === 'string' ? sessions.get(id) : undefined
  if (known !== undefined) return known.handleRequest(request, response, body)
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void sessions.set(session, transport),
  })
  await createTwin().connect(transport)
  await transport.handleRequest(request, response, body)
}

if (port === undefined) await createTwin().connect(new StdioServerTransport())
else {
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  server.listen(port, '127.0.0.1', () => console.log('ready'))
}
