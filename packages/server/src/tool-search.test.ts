import type { Middleware } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type ServerDefinition, tool } from './index.ts'
import { internalSettings } from './internals.ts'
import { callTool, createLogCollector, errorOf, resultOf } from './testing/ask.ts'
import { toolSearch, type ToolSearchOptions } from './tool-search.ts'

const subjects = ['issue', 'invoice', 'branch', 'droplet']
const verbs = ['create', 'list', 'delete']
const many = subjects.flatMap((subject) =>
  verbs.map((verb) =>
    tool(`${verb}_${subject}`, {
      description: `Can ${verb} one ${subject}`,
      input: z.object({ id: z.string() }),
      annotations: { readOnlyHint: verb === 'list' },
      run: ({ id }) => `${verb} ${subject} ${id}`,
    }),
  ),
)
const secret = tool('delete_treasure', {
  description: 'Can delete one treasure',
  visibleTo: (who) => who?.subject === 'root',
  run: () => 'gone',
})
const root = { principal: { subject: 'root' } }

function serve(options: ToolSearchOptions = {}, more: Partial<ServerDefinition> = {}) {
  return createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [...many, secret],
    log: () => {},
    toolSearch: toolSearch({ above: 10, ...options }),
    ...more,
  })
}
type TestServer = ReturnType<typeof serve>

const as = (name: string) => ({ meta: { [metaKeys.clientInfo]: { name, version: '1.0.0' } } })

async function namesListed(server: TestServer, options = {}): Promise<readonly unknown[]> {
  const { tools } = await resultOf(server, 'tools/list', {}, options)
  return Array.isArray(tools) ? tools.filter(isJsonObject).map(({ name }) => name) : []
}

async function search(server: TestServer, query: unknown, options = {}) {
  const result = await resultOf(
    server,
    'tools/call',
    { name: 'search_tools', arguments: { query } as JsonObject },
    options,
  )
  const { tools = [], more = [] } = isJsonObject(result['structuredContent']) ? result['structuredContent'] : {}
  const found = Array.isArray(tools) ? tools.filter(isJsonObject) : []
  return { result, found, names: found.map(({ name }) => name), more }
}

const textOf = ({ content }: JsonObject): unknown =>
  Array.isArray(content) && isJsonObject(content[0]) ? content[0]['text'] : undefined

const searching = ['search_tools', 'call_read_only_tool', 'call_tool']

describe('the list of a server with a search', () => {
  test('has three tools and those of always, on all pages, and less than two kilobytes', async () => {
    const server = serve({ always: ['list_issue', 'delete_droplet'] }, internalSettings({ pageSize: 5 }))
    expect(await namesListed(server)).toEqual([...searching, 'list_issue', 'delete_droplet'])
    const result = await resultOf(serve(), 'tools/list')
    expect(result).not.toHaveProperty('nextCursor')
    expect(JSON.stringify(result).length).toBeLessThan(2000)
  })

  test('keeps tools with a page, which the host needs to show it', async () => {
    const chart = tool('chart', {
      description: 'Draws',
      meta: { ui: { resourceUri: 'ui://c/p.html' } },
      run: () => 'drawn',
    })
    expect(await namesListed(serve({}, { tools: [...many, chart] }))).toEqual([...searching, 'chart'])
  })

  test('stays as it is up to the limit, by what the caller sees', async () => {
    const server = serve({ above: 12 })
    expect(await namesListed(server)).toHaveLength(12)
    expect(await namesListed(server, root)).toEqual(searching)
  })

  test('is private while clients get different lists, and else keeps its scope', async () => {
    const shared = { tools: many }
    expect(await resultOf(serve({}, shared), 'tools/list')).toMatchObject({ cacheScope: 'private', ttlMs: 300_000 })
    expect(await resultOf(serve({}, shared), 'tools/list', {}, as('claude-code'))).toMatchObject({
      cacheScope: 'private',
    })
    expect(await resultOf(serve({ directFor: [] }, shared), 'tools/list')).toMatchObject({ cacheScope: 'public' })
    const paged = serve({ directFor: [], above: 100 }, { ...shared, ...internalSettings({ pageSize: 5 }) })
    const { nextCursor = '' } = await resultOf(paged, 'tools/list')
    expect(await resultOf(paged, 'tools/list', { cursor: nextCursor })).toMatchObject({ cacheScope: 'public' })
  })
})

describe('a search', () => {
  test('returns definitions that can be called, best first, and names of more', async () => {
    const { found, more, result } = await search(serve({ results: 1 }), 'remove an issue')
    expect(found).toMatchObject([
      { name: 'delete_issue', inputSchema: { required: ['id'] }, annotations: { readOnlyHint: false } },
    ])
    expect(more).toContain('delete_branch')
    expect(JSON.parse(String(textOf(result)))).toEqual({ tools: found, more })
  })

  test('of a name returns its definition first', async () => {
    expect((await search(serve(), 'list_branch')).names[0]).toBe('list_branch')
  })

  test('returns what the list of the caller has at this time, and nothing else [TSR-002]', async () => {
    const hide: Middleware = (next) => async (request, call) => {
      const response = await next(request, call)
      if ('error' in response || !Array.isArray(response.result['tools'])) return response
      const tools = response.result['tools'].filter((each) => isJsonObject(each) && each['name'] !== 'delete_issue')
      return { ...response, result: { ...response.result, tools } }
    }
    const server = serve({}, { use: [hide] })
    expect((await search(server, 'delete treasure')).names).not.toContain('delete_treasure')
    expect((await search(server, 'delete treasure', root)).names[0]).toBe('delete_treasure')
    expect((await search(server, 'delete issue')).names).not.toContain('delete_issue')
    server.update({ tools: [tool('delete_issue_2', { description: 'New', run: () => 'new' })] })
    expect((await search(server, 'delete issue')).names).toEqual(['delete_issue_2'])
  })

  test('orders tools as if hidden ones did not exist [TSR-002]', async () => {
    const hidden = ['one', 'two', 'three', 'four', 'five'].map((name) =>
      tool(`invoice_${name}`, { description: 'invoice '.repeat(20), visibleTo: () => false, run: () => '' }),
    )
    for (const query of ['invoice branch', 'create an invoice for a droplet', 'delete list issue']) {
      const [one, other] = [
        await search(serve(), query),
        await search(serve({}, { tools: [...hidden, ...many, secret] }), query),
      ]
      expect([other.names, other.more]).toEqual([one.names, one.more])
    }
  })

  test('leaves out what is for pages, also when it is called', async () => {
    const only = tool('delete_draft', { description: 'd', meta: { ui: { visibility: ['app'] } }, run: () => 'gone' })
    const server = serve({}, { tools: [...many, only] })
    expect((await search(server, 'delete_draft')).names).not.toContain('delete_draft')
    expect(await callTool(server, 'call_tool', { name: 'delete_draft' })).toMatchObject({ isError: true })
  })

  test('names the definitions that do not fit, and always has one', async () => {
    const long = ['one', 'two', 'three'].map((name) =>
      tool(`long_${name}`, { description: 'long '.repeat(3000), run: () => '' }),
    )
    const { names, more } = await search(serve({}, { tools: [...many, ...long] }), 'long')
    expect([names, more]).toEqual([['long_one'], ['long_two', 'long_three']])
  })

  test('passes the errors of a list on, and is a list for all middleware', async () => {
    const seen: string[] = []
    const refuse: Middleware = (next) => (request, call) => {
      seen.push(request.method)
      return call.principal === undefined
        ? Promise.resolve({ jsonrpc: '2.0', id: request.id, error: { code: -1, message: 'no' } })
        : next(request, call)
    }
    expect(
      await errorOf(serve({}, { use: [refuse] }), 'tools/call', { name: 'search_tools', arguments: { query: 'x' } }),
    ).toMatchObject({ code: -1 })
    expect(seen).toEqual(['tools/list'])
  })
})

describe('a call through the search', () => {
  test('of a tool that is not read-only is refused by the read-only one [TSR-003]', async () => {
    const server = serve()
    const call = (name: string, way = 'call_read_only_tool') => callTool(server, way, { name, arguments: { id: '7' } })
    expect(textOf(await call('list_issue'))).toBe('list issue 7')
    expect(await call('delete_issue')).toMatchObject({ isError: true })
    expect(textOf(await call('delete_issue'))).toBe('delete_issue may change something: call it with call_tool')
    expect(textOf(await call('delete_issue', 'call_tool'))).toBe('delete issue 7')
  })

  test.each(['call_tool', 'call_read_only_tool'])(
    'of a hidden tool through %s is one of an unknown tool',
    async (way) => {
      const errorFor = (name: string) => errorOf(serve(), 'tools/call', { name: way, arguments: { name } })
      const unknown = await errorFor('delete_nothing')
      expect(await errorFor('delete_treasure')).toEqual({ ...unknown, message: 'Unknown tool: "delete_treasure"' })
    },
  )

  test.each([
    ['no query', 'search_tools', { query: '' }, 'query must be a text of 1 to 500 characters'],
    ['a long query', 'search_tools', { query: 'x'.repeat(501) }, 'query must be a text of 1 to 500 characters'],
    ['another member', 'search_tools', { query: 'x', id: 1 }, 'only query can be given here'],
    ['a name that is no text', 'call_tool', { name: 7 }, 'name must be the name of a tool, of 1 to 1000 characters'],
    ['a long name', 'call_tool', { name: 'x'.repeat(1001) }, 'name must be the name of a tool'],
    ['half a surrogate pair', 'call_tool', { name: 'a\uD800' }, 'name must be the name of a tool'],
    ['arguments as text', 'call_tool', { name: 'list_issue', arguments: '{}' }, 'arguments must be an object'],
    [
      'arguments beside the name',
      'call_tool',
      { name: 'list_issue', id: '7' },
      'the arguments of a tool go into `arguments`',
    ],
    ['nothing', 'call_tool', undefined, 'name must be the name of a tool'],
  ])('with %s says what is wrong', async (_, name, args, text) => {
    const result = await callTool(serve(), name, args)
    expect(result).toMatchObject({ isError: true, resultType: 'complete' })
    expect(textOf(result)).toContain(text)
  })

  test('of a tool of the search is one of an unknown tool', async () => {
    const error = await errorOf(serve(), 'tools/call', { name: 'call_tool', arguments: { name: 'call_tool' } })
    expect(error).toMatchObject({ message: 'Unknown tool: "call_tool"' })
  })
})

test('a definition that the search cannot serve is refused, and one that is doubtful is logged', () => {
  expect(() => serve({}, { tools: [tool('call_tool', { description: 'x', run: () => '' })] })).toThrow(
    'tool of this name',
  )
  expect(() => serve({}, { toolSearch: true as never })).toThrow('write toolSearch: toolSearch()')
  expect(() => toolSearch({ above: -1 })).toThrow(RangeError)
  expect(() => toolSearch({ results: 0 })).toThrow(RangeError)
  expect(() => toolSearch({ results: 51 })).toThrow(RangeError)
  expect(() => toolSearch({ always: 'x' as never })).toThrow('always must be an array of names')
  expect(() => toolSearch({ limit: 3 } as never)).toThrow('toolSearch has no option `limit`')
  const { log, warnings } = createLogCollector()
  serve({ always: ['list_isue'] }, { log })
  expect(warnings).toMatchObject([{ code: 'tool_rule_unmatched' }])
})
