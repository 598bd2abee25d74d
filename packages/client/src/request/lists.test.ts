import type { LogRecord } from '@x/core'
import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { withClientConstants } from './options.ts'
import { createMinimalTool, hostInfo, createScriptedExchange, createToolsPage } from '../testing/scripted-exchange.ts'

const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name)

async function taken<T>(items: AsyncIterable<T>, count = Number.POSITIVE_INFINITY): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) {
    all.push(item)
    if (all.length >= count) break
  }
  return all
}

describe('A list', () => {
  const paged = (pages: Readonly<Record<string, JsonObject>>) =>
    createScriptedExchange(
      ({ params }) => pages[String(params.cursor ?? 'first')] ?? { error: { code: -32602, message: 'Bad cursor' } },
    )

  test('of a server without its capability is empty', async () => {
    const exchange = createScriptedExchange(() => ({ error: { code: -32601, message: 'Method not found' } }))
    const client = createClient(exchange, hostInfo)
    expect(await client.listTools()).toEqual([])
    expect(await client.listResourceTemplates()).toEqual([])
  })

  test('is read page by page until there is no cursor, or an empty one', async () => {
    const exchange = paged({
      first: createToolsPage([createMinimalTool('a')], { nextCursor: 'one' }),
      one: createToolsPage([], { nextCursor: 'two' }),
      two: createToolsPage([createMinimalTool('b')], { nextCursor: '' }),
    })
    const client = createClient(exchange, hostInfo)
    expect(names(await client.listTools())).toEqual(['a', 'b'])
    expect(exchange.received.map(({ params }) => params)).toEqual([{}, { cursor: 'one' }, { cursor: 'two' }])
    expect(names(await taken(client.eachTool()))).toEqual(['a', 'b'])
  })

  test.each([
    ['tools/list', 'tools', createMinimalTool('b', { description: null }), 'listTools', 'tools[1].description'],
    ['tools/list', 'tools', { name: 'b' }, 'listTools', 'tools[1].inputSchema'],
    ['prompts/list', 'prompts', { name: 7 }, 'listPrompts', 'prompts[1].name'],
    ['resources/list', 'resources', { name: 'b' }, 'listResources', 'resources[1].uri'],
    ['resources/templates/list', 'resourceTemplates', null, 'listResourceTemplates', 'resourceTemplates[1]'],
  ] as const)('of %s is read without an item of another type, and the log says why', async (...row) => {
    const [method, field, invalid, list, path] = row
    const valid = { name: 'a', uri: 'a:b', uriTemplate: 'a:{b}', inputSchema: { type: 'object' } }
    const { tools: _, ...page } = createToolsPage([])
    const exchange = createScriptedExchange(() => ({ ...page, [field]: [valid, invalid, valid, invalid] }))
    const records: LogRecord[] = []
    const client = createClient(exchange, { ...hostInfo, log: (record) => void records.push(record) })
    expect(await client[list]()).toHaveLength(2)
    const message = expect.stringContaining(`2 left out: ${path}: expected`) as string
    expect(records).toEqual([{ level: 'warn', code: 'item_refused', method, message }])
  })

  test.each([
    ['an invalid member beside its items', createToolsPage([{ name: 'b' }], { ttlMs: 'long' })],
    ['more invalid items than anybody would leave out', createToolsPage(Array(21).fill({}))],
  ])('with %s is an error', async (_, page) => {
    const client = createClient(
      createScriptedExchange(() => page),
      hostInfo,
    )
    await expect(client.listTools()).rejects.toMatchObject({ code: 'invalid_result' })
  })

  test('asks for no page before it is wanted', async () => {
    const exchange = paged({
      first: createToolsPage([createMinimalTool('a')], { nextCursor: 'two' }),
      two: createToolsPage([createMinimalTool('b')]),
    })
    expect(names(await taken(createClient(exchange, hostInfo).eachTool(), 1))).toEqual(['a'])
    expect(exchange.received).toHaveLength(1)
  })

  test.each<[string, (cursor: string) => string, RegExp]>([
    ['gives the same cursor twice', (cursor) => (cursor === 'x' ? 'y' : 'x'), /same cursor twice/],
    ['never ends', (cursor) => `${cursor}1`, /more than 10 pages/],
    ['has pages without end that are large', (cursor) => `${cursor}${'x'.repeat(500)}`, /more than 2000 characters/],
  ])('that %s is an error', async (_title, next, message) => {
    const exchange = createScriptedExchange(({ params }) =>
      createToolsPage([], { nextCursor: next(String(params.cursor ?? '')) }),
    )
    const client = createClient(exchange, { ...hostInfo, ...withClientConstants({ maxPages: 10, maxListSize: 2000 }) })
    const failure = client.listTools()
    await expect(failure).rejects.toMatchObject({ code: 'endless_list', method: 'tools/list' })
    await expect(failure).rejects.toThrow(message)
    expect(exchange.received.length).toBeLessThanOrEqual(10)
  })

  test('is started again without the cache when a cursor is no longer valid [CCH-022 CCH-023]', async () => {
    let generation = 1
    const exchange = createScriptedExchange(({ params }) => {
      if (params.cursor === undefined)
        return createToolsPage([createMinimalTool('a'), createMinimalTool(`a${generation}`)], {
          nextCursor: `g${generation}`,
        })
      if (params.cursor === `g${generation}`)
        return createToolsPage([createMinimalTool(`b${generation}`)], { ttlMs: 0 })
      return { error: { code: -32602, message: 'Invalid cursor' } }
    })
    const client = createClient(exchange, hostInfo)
    expect(names(await client.listTools())).toEqual(['a', 'a1', 'b1'])
    generation = 2
    expect(names(await client.listTools())).toEqual(['a', 'a2', 'b2'])
    const cursors = exchange.received.map(({ params }) => params.cursor)
    expect(cursors).toEqual([undefined, 'g1', 'g1', undefined, 'g2'])
    generation = 3
    expect(names(await taken(client.eachTool()))).toEqual(['a', 'a2', 'a3', 'b3'])
  })

  test('is given up when the new cursor is not valid either', async () => {
    const exchange = createScriptedExchange(({ params }) =>
      params.cursor === undefined
        ? createToolsPage([], { nextCursor: 'x' })
        : { error: { code: -32602, message: 'Invalid cursor' } },
    )
    await expect(createClient(exchange, hostInfo).listTools()).rejects.toMatchObject({ rpc: { code: -32602 } })
    expect(exchange.received).toHaveLength(4)
  })

  test('of prompts, resources and templates is read alike', async () => {
    const hints = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }
    const exchange = createScriptedExchange(({ request }) => {
      if (request.method === 'prompts/list') return { ...hints, prompts: [{ name: 'p' }] }
      if (request.method === 'resources/list') return { ...hints, resources: [{ name: 'r', uri: 'a:r' }] }
      return { ...hints, resourceTemplates: [{ name: 't', uriTemplate: 'a:{t}' }] }
    })
    const client = createClient(exchange, hostInfo)
    expect([await client.listPrompts(), await client.listResources(), await client.listResourceTemplates()]).toEqual([
      [{ name: 'p' }],
      [{ name: 'r', uri: 'a:r' }],
      [{ name: 't', uriTemplate: 'a:{t}' }],
    ])
    expect(await taken(client.eachPrompt())).toHaveLength(1)
    expect(await taken(client.eachResource())).toHaveLength(1)
    expect(await taken(client.eachResourceTemplate())).toHaveLength(1)
  })
})

test('prompts, completions and resources are asked for as the specification writes them', async () => {
  const exchange = createScriptedExchange(({ request }) => {
    if (request.method === 'prompts/get') return { resultType: 'complete', messages: [] }
    return { resultType: 'complete', completion: { values: ['a'] } }
  })
  const client = createClient(exchange, hostInfo)
  await client.getPrompt('review', { code: 'x' })
  await client.getPrompt('bare')
  await client.complete({ type: 'ref/resource', uri: 'a:{t}' }, { name: 't', value: 'x' }, { arguments: { u: 'y' } })
  expect(exchange.received.map(({ params }) => params)).toEqual([
    { name: 'review', arguments: { code: 'x' } },
    { name: 'bare' },
    {
      ref: { type: 'ref/resource', uri: 'a:{t}' },
      argument: { name: 't', value: 'x' },
      context: { arguments: { u: 'y' } },
    },
  ])
})
