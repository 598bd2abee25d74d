import { describe, expect, test } from 'vitest'
import { leftoversOf, migrateProgram } from '../testing/migrate-program.ts'

const ok = "{ content: [{ type: 'text', text: 'ok' }] }"

describe('definitions', () => {
  test.each([
    [
      'a tool with the shape of its arguments',
      `server.registerTool('add', { title: 'Add', description: 'Adds', inputSchema: { a: z.number() } }, ({ a }) => ({}))`,
      "const add = tool('add', { title: 'Add', description: 'Adds', input: z.object({ a: z.number() }), run: ({ a }) => ({}) })",
    ],
    [
      'a tool with a schema',
      `server.registerTool('add', { description: 'Adds', inputSchema: z.object({ a: z.number() }) }, ({ a }) => ({}))`,
      "const add = tool('add', { description: 'Adds', input: z.object({ a: z.number() }), run: ({ a }) => ({}) })",
    ],
    [
      'a shape in a constant',
      `const inputSchema = { a: z.number() }
       server.registerTool('add', { description: 'Adds', inputSchema }, ({ a }) => ({}))`,
      "{ description: 'Adds', input: z.object(inputSchema), run:",
    ],
    [
      'a tool with an output, whose results are of the protocol',
      `server.registerTool('sum', { description: 'Adds', outputSchema: { n: z.number() } }, () => {
         return { content: [], structuredContent: { n: 1 } }
       })`,
      'output: z.object({ n: z.number() }), run: () => { return toolResult({ content: [], structuredContent: { n: 1 } }) }',
    ],
    [
      'a name that is no identifier, and one that the file has already',
      `const other = 1
       server.registerTool('get-weather', { description: 'A' }, () => (${ok}))
       server.registerTool('other', { description: 'B' }, () => (${ok}))`,
      'tools: [getWeather, otherTool]',
    ],
    [
      'the older method with a description and a shape',
      `server.tool('add', 'Adds', { a: z.number() }, ({ a }) => ({}))`,
      "const add = tool('add', { description: 'Adds', input: z.object({ a: z.number() }), run: ({ a }) => ({}) })",
    ],
    [
      'a prompt',
      `server.registerPrompt('plan', { argsSchema: { city: z.string() } }, ({ city }) => ({ messages: [] }))`,
      "const plan = prompt('plan', { input: z.object({ city: z.string() }), run: ({ city }) => ({ messages: [] }) })",
    ],
    [
      'a resource, whose contents get the URI of the request',
      `server.registerResource('one', 'test://one', {}, async (uri) => ({ contents: [{ uri: uri.href, text: uri.href }] }))`,
      "const one = resource('test://one', { name: 'one', read: async () => ({ contents: [{ text: 'test://one' }] }) })",
    ],
    [
      'a template',
      `server.registerResource('book', new ResourceTemplate('book://{id}', { list: undefined }), {}, (uri, { id }) => ({
         contents: [{ uri: uri.href, text: String(id) }],
       }))`,
      "resourceTemplate('book://{id}', { name: 'book', read: ({ id }) => ({ contents: [{ text: String(id) }], }) })",
    ],
  ])('%s', (_, body, expected) => {
    const head = "import { ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'\n"
    expect(migrateProgram(body, head)).toContain(expected)
    expect(leftoversOf(body, head)).toEqual([])
  })

  test('a program without another server is one createServer after its definitions', () => {
    expect(migrateProgram(`server.registerTool('ok', { description: 'Is ok' }, () => (${ok}))`)).toBe(
      "import { legacy } from '@x/legacy' import { createServer, tool } from '@x/server' import * as z from 'zod' " +
        `const ok = tool('ok', { description: 'Is ok', run: () => (${ok}) }) ` +
        "const server = createServer({ name: 'demo', version: '1.0.0', tools: [ok], extensions: [legacy()] }) ",
    )
  })

  test('a program with its own createServer keeps it', () => {
    const text = migrateProgram(
      `createServer()\nserver.registerTool('ok', { description: 'Is ok' }, () => (${ok}))`,
      "import { createServer } from 'node:http'\n",
    )
    expect(text).toContain("import { createServer as createMcpServer, tool } from '@x/server'")
    expect(text).toContain('const server = createMcpServer({')
  })
})

/** Rewrites the body of a tool's handler, and returns the new handler. */
function migrateHandler(body: string, parameters = '({ a }, extra)'): string {
  const config = "{ description: 'Adds', inputSchema: { a: z.number() } }"
  const text = migrateProgram(`server.registerTool('add', ${config}, async ${parameters} => { ${body} })`)
  return /run: (.*) \}\) const server/.exec(text)?.[1] ?? text
}

describe('handlers', () => {
  test.each([
    ['await fetch(a, { signal: extra.signal })', 'async ({ a }, ctx) => { await fetch(a, { signal: ctx.signal }) }'],
    ['f(extra._meta?.progressToken)', 'async ({ a }, ctx) => { f(ctx.meta.progressToken) }'],
    [
      "await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: 1, progress: a, message: 'b' } })",
      "async ({ a }, ctx) => { ctx.progress(a, undefined, 'b') }",
    ],
    [
      "await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data: a } })",
      "async ({ a }, ctx) => { ctx.log('info', a) }",
    ],
    [
      "await server.sendLoggingMessage({ level: 'info', data: 1 }, extra.sessionId)",
      "async ({ a }, ctx) => { ctx.log('info', 1) }",
    ],
    ['server.sendToolListChanged()', "async ({ a }, ctx) => { ctx.notifyListChanged('tools') }"],
    [
      "await server.server.sendResourceUpdated({ uri: 'a://b' })",
      "async ({ a }, ctx) => { await ctx.notifyResourceUpdated('a://b') }",
    ],
    ['f(server.server.getClientCapabilities())', 'async ({ a }, ctx) => { f(ctx.client.capabilities) }'],
    [
      "const r = await server.server.elicitInput({ mode: 'form', message: 'Who?', requestedSchema: form })",
      "async ({ a }, ctx) => { const r = await ctx.elicitResult('r', { message: 'Who?', schema: form }) }",
    ],
    [
      'const r = await server.server.createMessage({ messages: [], maxTokens: 1 })',
      "async ({ a }, ctx) => { const r = await ctx.sample('message', { messages: [], maxTokens: 1 }) }",
    ],
  ])('%s', (body, expected) => {
    expect(migrateHandler(body)).toBe(expected)
  })

  test('a destructured context becomes one name', () => {
    const body =
      "f({ signal }); sendNotification({ method: 'notifications/progress', params: { progress: a, total: 2 } })"
    expect(migrateHandler(body, '({ a }, { signal, sendNotification })')).toBe(
      'async ({ a }, ctx) => { f({ signal: ctx.signal }); ctx.progress(a, 2) }',
    )
  })

  test('the context of version 2 is rewritten', () => {
    const body =
      "await mcpReq.log('debug', 'a'); await mcpReq.notify({ method: 'notifications/progress', params: { progress: 1 } })"
    expect(migrateHandler(body, '({ a }, { mcpReq })')).toBe(
      "async ({ a }, ctx) => { await ctx.log('debug', 'a'); ctx.progress(1) }",
    )
  })

  test('two questions have two keys', () => {
    const ask = "await server.server.elicitInput({ message: 'Who?', requestedSchema: form })"
    expect(migrateHandler(`f(${ask}); f(${ask})`)).toMatch(/elicitResult\('answer', .*elicitResult\('answer2', /)
  })
})
