import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'

const [server, name, args] = process.argv.slice(2)
const { url, command, args: words, env } = JSON.parse(server)
const transport = url ? { type: 'http', url } : new Experimental_StdioMCPTransport({ command, args: words, env })
const client = await createMCPClient({ transport, capabilities: { elicitation: {} } })
client.onElicitationRequest(ElicitationRequestSchema, () => ({
  action: 'accept',
  content: { name: 'Ada', city: 'Oslo' },
}))
const tools = await client.tools()
console.log(JSON.stringify(await tools[name].execute(JSON.parse(args), { messages: [], toolCallId: 'call' })))
await client.close()
