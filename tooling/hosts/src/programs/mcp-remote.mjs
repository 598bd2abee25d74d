import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [server, name, args] = process.argv.slice(2)
const { url } = JSON.parse(server)
if (!url) throw new Error('mcp-remote connects over HTTP')
const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities: { elicitation: { form: {}, url: {} } } })
client.setRequestHandler(ElicitRequestSchema, ({ params: { mode } }) => ({
  action: 'accept',
  ...(mode !== 'url' && { content: { name: 'Ada', city: 'Oslo' } }),
}))
const env = { PATH: process.env.PATH, HOME: process.env.HOME }
await client.connect(new StdioClientTransport({ command: 'mcp-remote', args: [url], env }))
console.log(JSON.stringify(await client.callTool({ name, arguments: JSON.parse(args) })))
await client.close()
