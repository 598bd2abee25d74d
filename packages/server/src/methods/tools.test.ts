import { type ClientCapabilities, errorCodes, type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer, type Log, type Tool, tool } from '../index.ts'
import { callTool, errorOf, invalidParams, resultOf, textOf } from '../testing/ask.ts'

const serve = (...tools: Tool[]) => createServer({ name: 'demo', version: '1.0.0', tools })
const description = 'A tool'
const person = z.object({
  name: z.string().min(2),
  born: z.number().int().optional(),
  address: z.object({ street: z.string(), 'zip/code': z.string() }).optional(),
  tags: z.array(z.string()).optional(),
  contact: z.union([z.string(), z.number()]).optional(),
})
const point = z.object({ x: z.number(), y: z.number() })

test.each(['a b', 'größe', 'a'.repeat(129), 'files/read'])(
  'a tool named %s is served, with a warning of hosts that reject it [TOL-012 TOL-014 TOL-015]',
  async (name) => {
    const log = vi.fn<Log>()
    const tools = [tool(name, { description, run: () => 'served' }), tool('plain', { description, run: () => '' })]
    const server = createServer({ name: 'demo', version: '1.0.0', tools, log, state: false })
    expect(textOf(await callTool(server, name))).toBe('served')
    server.update({ tools })
    expect(log.mock.calls).toEqual([
      [expect.objectContaining({ code: 'name', message: expect.stringContaining(JSON.stringify(name)) })],
    ])
  },
)

describe('arguments', () => {
  const server = serve(
    tool('person', { description, input: person, run: (args) => JSON.stringify(args) }),
    tool('none', { description, run: (args) => JSON.stringify(args) }),
    tool('trim', {
      description,
      input: z.object({ text: z.string().transform((text) => text.trim()) }),
      run: ({ text }) => text,
    }),
    tool('later', {
      description,
      input: z.object({ n: z.number().refine(async (n) => n > 0, 'must be positive') }),
      run: ({ n }) => `${n}`,
    }),
    tool('raw', {
      description,
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false },
      run: (args) => JSON.stringify(args),
    }),
  )

  test.each([
    ['person', { name: 7 }, ['name', 'string']],
    ['person', {}, ['name', 'string']],
    ['person', undefined, ['name', 'string']],
    ['person', { name: 'x' }, ['name', '2']],
    ['person', { name: 'xy', address: { street: 7, 'zip/code': 8 } }, ['address.street', 'string', 'address.zip/code']],
    ['person', { name: 'xy', tags: ['a', 2] }, ['tags.1', 'string']],
    ['person', { name: 'xy', contact: true }, ['contact', 'string', 'number']],
    ['none', { extra: 1 }, ['extra']],
    ['later', { n: -1 }, ['n', 'must be positive']],
    ['raw', {}, ['n']],
    ['raw', { n: 'x' }, ['n', 'integer']],
    ['raw', { n: 1, m: 2 }, ['m']],
  ])('%s(%j) is a result that says what was expected, and where [TOL-033 TOL-035]', async (name, args, parts) => {
    const result = await callTool(server, name, args)
    expect(result).toMatchObject({ isError: true })
    const text = textOf(result)
    expect(text).toMatch(new RegExp(`^Invalid arguments for tool "${name}":\n- `))
    for (const part of parts) expect(text).toContain(part)
    expect(text).not.toMatch(/[{[]"|"code"|invalid_type/)
  })

  test.each([
    ['person', { name: 'xy' }, '{"name":"xy"}'],
    ['none', undefined, '{}'],
    ['none', {}, '{}'],
    ['trim', { text: ' a ' }, 'a'],
    ['later', { n: 1 }, '1'],
    ['raw', { n: 1 }, '{"n":1}'],
  ])('%s(%j) runs with what the schema made of them', async (name, args, text) => {
    expect(textOf(await callTool(server, name, args))).toBe(text)
  })

  test('a rejection lists only some of a hundred faults', async () => {
    const result = await callTool(server, 'person', { name: 'xy', tags: Array.from({ length: 100 }, () => 1) })
    expect(textOf(result).split('\n')).toHaveLength(22)
    expect(textOf(result)).toContain('and 80 more')
  })

  test.each(['__proto__', 'constructor', 'toString'])('an argument called %s is data like any other', async (key) => {
    const open = serve(tool('t', { description, input: { type: 'object' }, run: (args) => JSON.stringify(args) }))
    const args: JsonObject = JSON.parse(`{"${key}":{"polluted":true}}`)
    expect(textOf(await callTool(open, 't', args))).toBe(`{"${key}":{"polluted":true}}`)
    expect(textOf(await callTool(server, 'person', { name: 'xy', ...args }))).toBe('{"name":"xy"}')
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('errors of the protocol', () => {
  const server = serve(tool('t', { description, run: () => 'ran' }))

  test.each([['unknown'], ['T'], ['__proto__'], ['constructor'], ['hasOwnProperty'], ['']])(
    'tool "%s" is unknown [TOL-013 TOL-032]',
    async (name) => {
      expect(await errorOf(server, 'tools/call', { name })).toMatchObject({
        code: invalidParams,
        message: `Unknown tool: "${name}"`,
      })
    },
  )

  test.each([
    [{}],
    [{ name: 7 }],
    [{ name: 't', arguments: [] }],
    [{ name: 't', arguments: 'a' }],
    [{ name: 't', arguments: null }],
  ])('a call with %j is malformed [TOL-032]', async (params) => {
    expect(await errorOf(server, 'tools/call', params)).toMatchObject({ code: invalidParams })
  })

  test('a very long name is not sent back whole', async () => {
    const { message } = await errorOf(server, 'tools/call', { name: 'x'.repeat(100_000) })
    expect(message.length).toBeLessThan(200)
  })

  test('a tool may be called __proto__ all the same', async () => {
    const odd = serve(tool('__proto__', { description, run: () => 'ran' }))
    expect(textOf(await callTool(odd, '__proto__'))).toBe('ran')
  })
})

describe('capabilities that a tool requires', () => {
  const requires = { sampling: {}, elicitation: { form: {} } }
  const server = serve(tool('t', { description, requires, run: () => 'ran' }))

  test.each([
    [{}, { sampling: {}, elicitation: { form: {} } }],
    [{ sampling: {} }, { elicitation: { form: {} } }],
    [{ elicitation: {} }, { sampling: {} }],
    [{ sampling: {}, elicitation: { url: {} } }, { elicitation: { form: {} } }],
  ] satisfies [ClientCapabilities, ClientCapabilities][])(
    'are named when %j lacks them [BAS-019 BAS-056 BAS-057]',
    async (declared, missing) => {
      const error = await errorOf(
        server,
        'tools/call',
        { name: 't' },
        { meta: { [metaKeys.clientCapabilities]: declared } },
      )
      expect(error).toMatchObject({
        code: errorCodes.missingRequiredClientCapability,
        data: { requiredCapabilities: missing },
      })
    },
  )

  test('let the call through when they are declared', async () => {
    const meta = { [metaKeys.clientCapabilities]: { sampling: {}, elicitation: {} } }
    expect(textOf(await callTool(server, 't', {}, { meta }))).toBe('ran')
  })
})

describe('tools for some', () => {
  const open = tool('open', { description, run: () => 'ran' })
  const admin = tool('admin', {
    description,
    visibleTo: (principal) => principal?.scopes?.includes('admin') ?? false,
    run: () => 'ran',
  })
  const server = serve(open, admin)
  const alice = { principal: { subject: 'alice', scopes: ['admin'] } }
  const bob = { principal: { subject: 'bob', scopes: [] } }

  test('are listed for them alone, in a list that is private [TOL-005 TOL-036 CCH-026]', async () => {
    expect(await resultOf(server, 'tools/list', {}, alice)).toMatchObject({
      tools: [{ name: 'open' }, { name: 'admin' }],
      cacheScope: 'private',
    })
    for (const other of [bob, {}]) {
      const list = await resultOf(server, 'tools/list', {}, other)
      expect(list).toMatchObject({ tools: [{ name: 'open' }], cacheScope: 'private' })
      expect(list['tools']).toHaveLength(1)
    }
  })

  test('do not exist for others [TOL-036 CCH-027]', async () => {
    expect(textOf(await callTool(server, 'admin', {}, alice))).toBe('ran')
    const hidden = await errorOf(server, 'tools/call', { name: 'admin' }, bob)
    const unknown = await errorOf(server, 'tools/call', { name: 'admim' }, bob)
    expect(hidden).toEqual({ ...unknown, message: unknown.message.replace('admim', 'admin') })
  })

  test('are hidden when visibleTo fails', async () => {
    const broken = tool('broken', {
      description,
      visibleTo: () => {
        throw new Error('the directory is down')
      },
      run: () => 'ran',
    })
    expect(await errorOf(serve(broken), 'tools/call', { name: 'broken' })).toMatchObject({ code: errorCodes.internal })
    expect(await errorOf(serve(broken), 'tools/list')).toMatchObject({ code: errorCodes.internal })
  })
})

describe('arguments that headers repeat', () => {
  const input = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
  const server = serve(tool('t', { description, input, run: () => 'ran' }))
  const call = (args: JsonObject, headerParams?: ReadonlyMap<string, string>) => ({
    params: { name: 't', arguments: args },
    options: headerParams && { headerParams },
  })

  test.each([
    ['other', { region: 'eu' }, new Map([['Region', 'us']])],
    ['missing', { region: 'eu' }, new Map()],
    ['too many', {}, new Map([['Region', 'us']])],
  ])('are refused when the headers are %s [BAS-019]', async (_, args, headerParams) => {
    const { params, options } = call(args, headerParams)
    expect(await errorOf(server, 'tools/call', params, options)).toMatchObject({ code: errorCodes.headerMismatch })
  })

  test.each([
    ['the headers repeat them', new Map([['Region', 'eu']])],
    ['there are no headers at all', undefined],
  ])('are taken when %s', async (_, headerParams) => {
    const { params, options } = call({ region: 'eu' }, headerParams)
    expect(textOf(await resultOf(server, 'tools/call', params, options))).toBe('ran')
  })
})

test('a tool is listed with all that its definition says [TOL-010]', async () => {
  const icons = [{ src: 'https://example.com/a.png', sizes: ['48x48'] }]
  const server = serve(
    tool('full', {
      title: 'Full',
      description: 'Everything',
      input: z.object({ a: z.string().describe('The a') }),
      output: point,
      annotations: { readOnlyHint: true },
      icons,
      meta: { 'com.example/a': 1 },
      run: () => ({ x: 1, y: 2 }),
    }),
    tool('bare', { description, run: () => '' }),
  )
  expect(await resultOf(server, 'tools/list')).toMatchObject({
    tools: [
      {
        name: 'full',
        title: 'Full',
        description: 'Everything',
        inputSchema: { type: 'object', properties: { a: { type: 'string', description: 'The a' } }, required: ['a'] },
        outputSchema: { type: 'object', properties: { x: { type: 'number' } } },
        annotations: { readOnlyHint: true },
        icons,
        _meta: { 'com.example/a': 1 },
      },
      { name: 'bare', description, inputSchema: { type: 'object', additionalProperties: false } },
    ],
  })
})
