import { MultiServerMCPClient } from '@langchain/mcp-adapters'

const [server, name, args] = process.argv.slice(2)
const { url, command, args: words, env } = JSON.parse(server)
const demo = url ? { transport: 'http', url } : { transport: 'stdio', command, args: words, env }
const client = new MultiServerMCPClient({ mcpServers: { demo } })
const tools = await client.getTools()
const tool = tools.find((one) => one.name === name)
const call = { type: 'tool_call', id: 'call', name, args: JSON.parse(args) }
console.log(JSON.stringify(await tool.invoke(call)))
await client.close()
