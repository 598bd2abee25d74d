import { Client as OlderClient } from '@modelcontextprotocol/sdk-2025-06-18/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk-2025-06-18/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk-2025-06-18/types.js'
import { createClient } from '@x/client'
import { legacy } from '@x/legacy'
import { toolSearch } from '@x/server/tool-search'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import hosts from '../../../docs/hosts.json' with { type: 'json' }
import { compareWays, type Rule, Seen, serve } from './searched-server.ts'
import { plain } from './searched-tools.ts'

test.each<Rule>([
  [
    'header parameters over HTTP',
    'region: eu',
    async (way, seen) => {
      await using http = await serveHttp(
        serve(seen, { extensions: plain(), toolSearch: toolSearch({ above: 0, always: ['deploy'] }) }),
      )
      const client = createClient(connectHttp(http.url), { name: 'host', version: '1.0.0' })
      const { name, arguments: args } = way('deploy', { region: 'eu' })
      const { content } = await client.callTool(String(name), Object(args))
      seen.note(content)
      // A direct call is sent again with the headers, once the client knows them.
      seen.entries.splice(0, seen.entries.length - 2)
    },
  ],
  [
    'a host of 2025-06-18',
    'Hello, Ada!',
    async (way, seen) => {
      await using http = await serveHttp(serve(seen, { extensions: [...plain(), legacy()] }))
      const client = new OlderClient({ name: 'older', version: '1.0.0' }, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }))
      await client.connect(new OlderTransport(new URL(http.url)) as Parameters<OlderClient['connect']>[0])
      const { name, arguments: args } = way('ask', {})
      seen.note(await client.callTool({ name: String(name), arguments: args as Record<string, unknown> }))
      await client.close()
    },
  ],
])('a call through the search is a direct call: %s [TSR-001]', (...rule) => compareWays(rule))

test('the hosts that search themselves, by the names that pnpm hosts recorded, list all tools', async () => {
  const server = serve(new Seen(), { toolSearch: toolSearch({ above: 0 }) })
  const whole: string[] = []
  for (const {
    host,
    clientInfo: { name, version },
  } of hosts)
    if ((await createClient(server, { name, version }).listTools()).length > 4) whole.push(host)
  expect(whole).toEqual(['Claude Code', 'Qwen Code'])
})
