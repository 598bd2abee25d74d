import { readFileSync } from 'node:fs'
import { createClient } from '@x/client'
import { isJsonArray, isJsonObject } from '@x/core'
import { createServer, type Tool } from '@x/server'
import { toolSearch } from '@x/server/tool-search'
import { beforeAll, expect, test } from 'vitest'
import { describeOpenApi, openApiTools } from './index.ts'
import { readVendored } from './testing/documents.ts'

const file = new URL('../../../tooling/spec/openapi/search-queries.json', import.meta.url)
const queries: readonly { readonly query: string; readonly right: readonly string[] }[] = JSON.parse(
  readFileSync(file, 'utf8'),
)

const tools: Tool[] = []
/** The operation of each tool, as the file of the queries writes it. */
const operations = new Map<string, string>()

beforeAll(() => {
  for (const name of ['github', 'digitalocean', 'slack']) {
    const document = readVendored(name)
    const ids = new Map(
      describeOpenApi(document).map((planned) => ['name' in planned && planned.name, planned.operationId]),
    )
    for (const each of openApiTools(document, { url: 'http://localhost', log: () => {} })) {
      // Two of these APIs have a tool of this name.
      const unique = operations.has(each.name) ? `${each.name}_of_${name}` : each.name
      tools.push({ ...each, name: unique })
      operations.set(unique, `${name}: ${ids.get(each.name)}`)
    }
  }
})

function connect(directFor?: readonly string[]) {
  const search = toolSearch({ ...(directFor && { directFor }) })
  const server = createServer({ name: 'apis', version: '1.0.0', tools, log: () => {}, toolSearch: search })
  return createClient(server, { name: 'host', version: '1.0.0' })
}

test('50 of 60 questions of users have a right answer in the first five of 1,983 tools', async () => {
  const client = connect()
  const right: string[] = []
  for (const { query, right: answers } of queries) {
    const { structuredContent } = await client.callTool('search_tools', { query })
    const described = isJsonObject(structuredContent) ? structuredContent['tools'] : []
    const first = isJsonArray(described) ? described.filter(isJsonObject).map(({ name }) => String(name)) : []
    if (first.some((name) => answers.includes(operations.get(name) ?? ''))) right.push(query)
  }
  expect([tools.length, queries.length]).toEqual([1983, 60])
  expect(right.length).toBeGreaterThanOrEqual(50)
})

test('a host reads a kilobyte instead of two megabytes before its first call', async () => {
  const [searched, whole] = [await connect().listTools(), await connect(['host']).listTools()]
  expect([searched.length, whole.length]).toEqual([3, 1983])
  expect(JSON.stringify(searched).length).toBeLessThan(2000)
  expect(JSON.stringify(whole).length).toBeGreaterThan(2_000_000)
})
