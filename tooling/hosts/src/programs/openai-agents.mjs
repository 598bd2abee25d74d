import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents'
import { auth } from '@modelcontextprotocol/client'
import { withLogin } from './oauth.mjs'

export async function connect(server, _) {
  const { url, command, args, env } = server
  const demo = await withLogin(server, auth, async (authProvider) => {
    const connected = url
      ? new MCPServerStreamableHttp({ name: 'demo', url, authProvider })
      : new MCPServerStdio({ name: 'demo', command, args, env })
    await connected.connect()
    return connected
  })
  return {
    async call(name, values, signal) {
      const tools = await demo.listTools()
      if (!tools.some((tool) => tool.name === name)) throw new Error(`the server has no tool "${name}"`)
      return demo.callToolResult(name, values, null, { signal })
    },
    read: (uri) => demo.readResource(uri),
    close: () => demo.close(),
  }
}
