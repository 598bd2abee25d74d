import { readFileSync } from 'node:fs'
import { createClient, type Client } from '@x/client'
import { isJsonArray, isJsonObject } from '@x/core'
import { createServer, type Tool } from '@x/server'
import { toolSearch } from '@x/server/tool-search'
import { describeOpenApi, openApiTools } from '../index.ts'
import { readVendored } from './documents.ts'

const file = new URL('../../../../tooling/spec/openapi/search-queries.json', import.meta.url)

/** Questions of users, with the operations that answer them. */
export const queries: readonly { readonly query: string; readonly right: readonly string[] }[] = JSON.parse(
  readFileSync(file, 'utf8'),
)

/** Tools of several documents, with the operation of each as a file of queries writes it. */
export interface SearchedTools {
  readonly tools: readonly Tool[]
  readonly operations: ReadonlyMap<string, string>
}

export function readSearchedTools(documents: readonly string[]): SearchedTools {
  const tools: Tool[] = []
  const operations = new Map<string, string>()
  for (const name of documents) {
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
  return { tools, operations }
}

/** A new server has these tools and a search. */
export function connect(tools: readonly Tool[], directFor?: readonly string[]): Client {
  const search = toolSearch({ ...(directFor && { directFor }) })
  const server = createServer({ name: 'apis', version: '1.0.0', tools: [...tools], log: () => {}, toolSearch: search })
  return createClient(server, { name: 'host', version: '1.0.0' })
}

/** Names of the tools that a search describes, the best first. */
export async function search(client: Client, query: string): Promise<readonly string[]> {
  const { structuredContent } = await client.callTool('search_tools', { query })
  const described = isJsonObject(structuredContent) ? structuredContent['tools'] : []
  return isJsonArray(described) ? described.filter(isJsonObject).map(({ name }) => String(name)) : []
}
