import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { readGatewayFile } from '../config/read-gateway-file.ts'
import { createGateway, callOf, errorOf, resultOf } from '../testing/gateway-kit.ts'
import { answerPlainly, createScriptedUpstream } from '../testing/scripted-upstream.ts'
import { toolSearch } from '../tool-search.ts'

const read = {
  name: 'read',
  description: 'Reads',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}
const drop = { name: 'drop', description: 'Drops', inputSchema: { type: 'object' } }
const page = { ...read, name: 'read_page', _meta: { ui: { visibility: ['app'] } } }

/** A gateway whose upstream notes the methods that arrive. */
function serve(given: JsonObject = {}) {
  const list = { ttlMs: 60_000, cacheScope: 'private', ...given }
  const crm = createScriptedUpstream({
    answer: async ({ request, call }) =>
      request.method === 'tools/list'
        ? { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', tools: [read, drop, page], ...list } }
        : answerPlainly(request, call),
  })
  const server = createGateway({ crm }, { toolSearch: toolSearch({ above: 0 }) })
  const lists = (): number => crm.arrived.filter(({ request }) => request.method === 'tools/list').length
  const search = (subject: string, query = 'drop') =>
    resultOf(server, 'tools/call', { name: 'search_tools', arguments: { query } }, callOf(subject))
  const call = (name: string, way = 'call_tool') =>
    resultOf(server, 'tools/call', { name: way, arguments: { name } }, callOf('ada'))
  return { server, lists, search, call }
}

test('a search reads a list of an upstream once for each caller, and once for all if it is public', async () => {
  const own = serve()
  for (const subject of ['ada', 'ada', 'bob']) {
    const { structuredContent } = await own.search(subject)
    expect(structuredContent).toMatchObject({ tools: [{ name: 'crm__drop' }] })
  }
  expect(own.lists()).toBe(2)
  const shared = serve({ cacheScope: 'public' })
  for (const subject of ['ada', 'bob']) await shared.search(subject)
  expect(shared.lists()).toBe(1)
  const uncached = serve({ ttlMs: 0 })
  for (const subject of ['ada', 'ada']) await uncached.search(subject)
  expect(uncached.lists()).toBe(2)
})

test('the read-only tool of the search calls read-only tools alone [TSR-003]', async () => {
  const { server, lists, call } = serve()
  expect(await call('crm__read', 'call_read_only_tool')).not.toHaveProperty('isError')
  expect(await call('crm__drop', 'call_read_only_tool')).toMatchObject({ isError: true })
  expect(await call('crm__drop')).not.toHaveProperty('isError')
  expect(lists()).toBe(1)
  const unknown = { name: 'call_read_only_tool', arguments: { name: 'crm__none' } }
  expect(await errorOf(server, 'tools/call', unknown)).toMatchObject({ message: 'Unknown tool "crm__none"' })
})

test.each([60_000, 0])(
  'a tool for pages is neither found nor called by a model, with lists of %i ms',
  async (ttlMs) => {
    const { server, search, call } = serve({ ttlMs })
    const { structuredContent } = await search('ada', 'crm__read_page')
    expect(structuredContent).toMatchObject({ tools: [{ name: 'crm__read' }, { name: 'crm__drop' }], more: [] })
    for (const way of ['call_tool', 'call_read_only_tool'])
      expect(await call('crm__read_page', way)).toMatchObject({ isError: true })
    expect(await resultOf(server, 'tools/call', { name: 'crm__read_page' })).not.toHaveProperty('isError')
  },
)

test('a gateway file switches the search on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-file-'))
  const readFile = async (search: unknown) => {
    const upstreams = { crm: { url: 'https://crm.example.com/mcp' } }
    await writeFile(
      join(folder, 'gateway.json'),
      JSON.stringify({ name: 'all', state: { keys: { env: 'KEYS' } }, upstreams, toolSearch: search }),
    )
    return (
      await readGatewayFile(join(folder, 'gateway.json'), {
        KEYS: '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b',
      })
    ).gateway.toolSearch
  }
  expect(await readFile(undefined)).toBeUndefined()
  expect(await readFile(false)).toBeUndefined()
  expect(isJsonObject(await readFile(true))).toBe(true)
  expect((await readFile({ always: ['crm__read'] }))?.always).toEqual(['crm__read'])
  await expect(readFile({ abov: 1 })).rejects.toThrow('toolSearch')
  await rm(folder, { recursive: true })
})
