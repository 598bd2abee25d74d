import { gateway } from '@x/gateway'
import { toolSearch } from '@x/gateway/tool-search'
import { connectAny } from '@x/legacy/client'
import { type JsonObject, metaKeys } from '@x/schema'
import { sealedState } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { expect } from 'vitest'
import { bundleProgram } from './child-program.ts'
import { answer, callTool, type Rule, type Seen } from './searched-server.ts'
import { info, keys } from './searched-tools.ts'

/** What is called twice, and what the results have. The second call has an answer to the question of the first. */
const calls: readonly (readonly [string, readonly string[], { args?: JsonObject; content?: JsonObject }?])[] = [
  ['greet', ['"structuredContent":{"text":"Hello, Ada!"}'], { args: { name: 'Ada' } }],
  ['nothing', ['Unknown tool']],
  ['ask', ['elicitation/create', 'Hello, Ada!'], { content: { name: 'Ada' } }],
  ['visit', ['https://example.com/', 'visited'], { content: {} }],
  ['chart', ['drawn']],
  ['copy', ['half']],
  ['ship', ['"resultType":"task"']],
]

/** A gateway over HTTP, whose upstream is a process over stdio. */
export const gatewayRule: Rule = [
  'a gateway over HTTP, in front of a process over stdio',
  'Hello, Ada!',
  async (way, seen) => {
    await using server = await openGateway(seen)
    const query = { name: 'search_tools', arguments: { query: 'greet' } }
    const { structuredContent } = await callTool(server.exchange, query, { seen })
    expect(structuredContent).toMatchObject({ tools: [{ name: 'crm__greet', annotations: { readOnlyHint: true } }] })
    for (const [name, expected, { args = {}, content } = {}] of calls) {
      const params = way(`crm__${name}`, args)
      const meta = { progressToken: 'p', [metaKeys.logLevel]: 'info' }
      const first = await callTool(server.exchange, params, { seen, meta })
      await callTool(server.exchange, { ...params, ...(content && answer(first, content)) }, { seen, meta })
      const text = JSON.stringify(seen.entries)
      for (const each of expected) expect(text).toContain(each)
    }
  },
]

async function openGateway(seen: Seen) {
  const program = await bundleProgram(new URL('programs/searched-upstream.ts', import.meta.url))
  const upstreams = { crm: { connect: () => connectAny({ command: process.execPath, args: [program.path] }) } }
  const search = toolSearch({ above: 0, directFor: [] })
  const options = { upstreams, use: [seen.use], log: seen.note, state: sealedState({ keys }), toolSearch: search }
  const http = await serveHttp(gateway({ ...info, ...options }))
  const { exchange, close } = connectHttp(http.url)
  return {
    exchange,
    async [Symbol.asyncDispose]() {
      await close()
      await http.close({ graceMs: 0 })
      await program[Symbol.asyncDispose]()
    },
  }
}
