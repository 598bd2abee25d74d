import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { toolSearch } from '@x/server/tool-search'

const subjects = ['issue', 'invoice', 'branch', 'user', 'message', 'file', 'volume', 'domain', 'alert', 'team']
const verbs = ['create', 'list', 'read', 'update', 'delete', 'export', 'archive', 'restore']
const tools = subjects.flatMap((subject) =>
  verbs.map((verb) =>
    tool(`${verb}_${subject}`, { description: `Can ${verb} one ${subject}`, run: () => `${verb}: ${subject}` }),
  ),
)
const server = createServer({ name: 'api', version: '1.0.0', tools, toolSearch: toolSearch() })

// A model does this: it reads three tools, searches, and calls what it found.
const client = createClient(server, { name: 'host', version: '1.0.0' })
console.log(`${tools.length} tools:`, (await client.listTools()).map(({ name }) => name).join(', '))
const { structuredContent } = await client.callTool('search_tools', { query: 'remove an invoice' })
const [{ name }] = structuredContent.tools
console.log('found:', name)
const { content } = await client.callTool('call_tool', { name })
console.log('called:', content[0].text)
