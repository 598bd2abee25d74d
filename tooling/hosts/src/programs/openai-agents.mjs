import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents'

const [server, name, args] = process.argv.slice(2)
const { url, command, args: words, env } = JSON.parse(server)
const demo = url
  ? new MCPServerStreamableHttp({ name: 'demo', url })
  : new MCPServerStdio({ name: 'demo', command, args: words, env })
await demo.connect()
console.log(JSON.stringify(await demo.callTool(name, JSON.parse(args))))
await demo.close()
