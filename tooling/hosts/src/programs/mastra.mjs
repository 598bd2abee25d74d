import { MCPClient } from '@mastra/mcp'

const [server, name, args] = process.argv.slice(2)
const { url, command, args: words, env } = JSON.parse(server)
const client = new MCPClient({ servers: { demo: url ? { url: new URL(url) } : { command, args: words, env } } })
const tools = await client.listTools()
console.log(JSON.stringify(await tools[`demo_${name}`].execute(JSON.parse(args), {})))
await client.disconnect()
