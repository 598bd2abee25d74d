import { describe, expect, test } from 'vitest'
import { created, leftoversOf, mcp, migrateProgram } from '../testing/migrate-program.ts'
import { migrateSource } from './migrate-source.ts'

const stdio = "import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'\n"
const ok = "{ content: [{ type: 'text', text: 'ok' }] }"

describe('transports', () => {
  test.each([
    ['a constant', 'const transport = new StdioServerTransport()\nawait server.connect(transport)'],
    ['an argument', 'await server.connect(new StdioServerTransport())'],
  ])('stdio with %s', (_, body) => {
    const text = migrateProgram(body, stdio)
    expect(text).toContain("import { serveStdio } from '@x/transport-stdio'")
    expect(text).toMatch(/\}\) serveStdio\(server\) $/)
  })

  const http =
    "import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'\nimport express from 'express'\n"
  const listener = `async (req, res) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    await server.connect(transport)
    await transport.handleRequest(req, res, req.body)
  }`

  test('the routes of an application become one, and the others stay', () => {
    const body = `const app = express()
app.get('/health', (req, res) => res.send('ok'))
app.post('/mcp', ${listener})
app.get('/mcp', (req, res) => res.status(405).end())
app.listen(3000)`
    const text = migrateProgram(body, http)
    expect(text).toContain(
      "const app = express() app.get('/health', (req, res) => res.send('ok')) app.all('/mcp', nodeHandler(server)) app.listen(3000)",
    )
    expect(leftoversOf(body, http)).toEqual([])
  })

  test('a listener that does more is left', () => {
    const body = `const app = express()\napp.post('/mcp', ${listener.replace('{\n', '{\n    audit(req)\n')})`
    expect(migrateProgram(body, http)).toContain('audit(req)')
    expect(leftoversOf(body, http)).toContain(
      '9 Write nodeHandler(server) as the listener of your HTTP server, and delete the sessions.',
    )
  })

  test('the entry functions of version 2 get a server', () => {
    const text = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
const create = () => {
  const server = new McpServer({ name: 'demo', version: '1.0.0' })
  return server
}
serveStdio(create)
`
    expect(migrateSource('server.ts', text).text).toMatch(
      /import \{ serveStdio \} from '@x\/transport-stdio'[\s\S]*\nserveStdio\(create\(\)\)\n$/,
    )
  })
})

describe('what is left', () => {
  test.each([
    [
      'a registration that runs in a loop',
      `for (const name of names) server.registerTool(name, { description: 'A' }, () => (${ok}))`,
      'Write the definition as a constant, and list it in createServer.',
    ],
    [
      'a tool without a description',
      `server.registerTool('a', {}, () => (${ok}))`,
      'Add a description: every tool has one here.',
    ],
    [
      'a handler in another function',
      "server.registerTool('a', { description: 'A' }, handler)",
      'Write this as a constant: tool(…), prompt(…), resource(…) or resourceTemplate(…).',
    ],
    [
      'a schema of another module',
      `server.registerTool('a', { description: 'A', inputSchema: other }, () => (${ok}))`,
      'Write the schema as `input` or `output`: z.object(…), or JSON Schema.',
    ],
    [
      'a function that takes the server',
      'addTools(server)',
      'Return definitions from the function that takes the server, and list them in createServer.',
    ],
  ])('%s stays as it is', (_, body, message) => {
    expect(leftoversOf(body)).toContain(`4 ${message}`)
    expect(migrateProgram(body)).toContain(body)
  })

  test('a question in a loop needs a key of the author', () => {
    const body = `for (const name of names) await server.server.elicitInput({ message: name, requestedSchema: form })`
    const text = migrateProgram(`server.registerTool('a', { description: 'A' }, async () => {\n  ${body}\n})`)
    expect(text).toContain('server.server.elicitInput({ message: name')
  })

  test('a place has its line in the source, its line in the new text and a section of a guide', () => {
    const text = `${mcp}\n\n${created}\nserver.registerTool('a', { description: 'A' }, (extra) => {\n  return f(extra.authInfo)\n})\n`
    const { leftovers, text: migrated } = migrateSource('server.ts', text)
    expect(leftovers).toEqual([
      {
        line: 5,
        newLine: 5,
        message: 'Write ctx.principal, which has `subject`, `scopes` and `claims`.',
        guide: 'https://git.example/x/mcp/blob/main/docs/guides/protect.md',
      },
    ])
    expect(migrated.split('\n')[4]).toBe('  return f(ctx.authInfo)')
  })

  test('work before a question is named, because the handler runs again', () => {
    const body = `server.registerTool('a', { description: 'A' }, async () => {
  await pay()
  const r = await server.server.elicitInput({ message: 'Who?', requestedSchema: form })
})`
    expect(leftoversOf(body)).toEqual([
      '5 Write ctx.step(key, work) around this if it must happen once: the handler runs again after the answer.',
    ])
  })

  test('the content of the answer of a model is named, because it may be an array', () => {
    const body = `server.registerTool('a', { description: 'A' }, async () => {
  const { content } = await server.server.createMessage({ messages: [], maxTokens: 1 })
})`
    expect(leftoversOf(body)).toEqual([
      '5 Check what reads `content`: it may be an array. ctx.sampleText(key, params) returns the text.',
    ])
  })

  test('what is only in version 2 has the section of version 2', () => {
    const text = `import { acceptedContent, createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
createMcpHandler(() => new McpServer({ name: 'demo', version: '1.0.0' }))
f(acceptedContent, ResourceTemplate)
`
    const sections = migrateSource('server.ts', text).leftovers.map(({ message, guide }) => [
      message.split(/[ (,]/).find((word) => /[a-z][A-Z]|Mcp|Template/.test(word)),
      guide.split('#')[1],
    ])
    expect(sections).toEqual([
      ['acceptedContent', 'from-version-2'],
      ['createMcpHandler', 'from-version-2'],
      ['McpServer', 'from-version-1'],
      ['ResourceTemplate', 'from-version-1'],
      ['httpHandler', 'from-version-2'],
      ['createServer', 'from-version-1'],
    ])
  })

  test('a low-level server is left with its import', () => {
    const text = "import { Server } from '@modelcontextprotocol/sdk/server/index.js'\nconst server = new Server({})\n"
    const { leftovers, text: migrated } = migrateSource('server.ts', text)
    expect([leftovers.map(({ line }) => line), migrated]).toEqual([[1, 2], text])
  })
})

describe('the form of a file', () => {
  test('comments, quotes, semicolons, tabs and line ends stay', () => {
    const text = [
      '// The license',
      'import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"; // the SDK',
      '',
      '/* The server */',
      'const server = new McpServer({ name: "demo", version: "1.0.0" });',
      '// Adds',
      'server.registerTool("add", {',
      '\tdescription: "Adds", // for models',
      '}, () => {',
      "\treturn { content: [{ type: 'text', text: `a",
      '  b` }] };',
      '});',
      '',
    ].join('\r\n')
    expect(migrateSource('server.ts', text).text.split('\r\n')).toEqual([
      '// The license',
      'import { legacy } from "@x/legacy";',
      'import { createServer, tool } from "@x/server";',
      '',
      '// Adds',
      'const add = tool("add", {',
      '\tdescription: "Adds",',
      '\t// for models',
      'run: () => {',
      "\treturn { content: [{ type: 'text', text: `a",
      '  b` }] };',
      '},',
      '});',
      '/* The server */',
      'const server = createServer({ name: "demo", version: "1.0.0", tools: [add], extensions: [legacy()] });',
      '',
    ])
  })

  test('a file without the official SDK is untouched', () => {
    const text = "import { McpServer } from './own.ts'\nnew McpServer({  })\nsyntax error\n"
    expect(migrateSource('server.ts', text)).toEqual({ text, leftovers: [] })
  })

  test('a syntax error is named with its line', () => {
    expect(() => migrateSource('server.ts', `${mcp}\nconst = 1\n`)).toThrow(
      'server.ts:2 is not valid TypeScript: Variable declaration expected. Correct it first.',
    )
  })
})
