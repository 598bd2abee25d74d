import { loadMcpTools, MultiServerMCPClient } from '@langchain/mcp-adapters'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { withLogin } from './oauth.mjs'

export async function connect(server, { report }) {
  const { url, command, args, env } = server
  let tools = []
  const client = await withLogin(server, auth, async (authProvider) => {
    const demo = url ? { transport: 'http', url, authProvider } : { transport: 'stdio', command, args, env }
    const connected = new MultiServerMCPClient({
      mcpServers: { demo },
      onProgress: ({ message }) => report(message),
      onToolsListChanged: async () => (tools = await loadMcpTools('demo', await client.getClient('demo'))),
    })
    tools = await connected.getTools()
    return connected
  })
  return {
    async call(name, values, signal) {
      const tool = tools.find((one) => one.name === name)
      if (!tool) throw new Error(`the server has no tool "${name}"`)
      return tool.invoke({ type: 'tool_call', id: 'call', name, args: values }, { signal })
    },
    async prompt(name, values) {
      const inner = await client.getClient('demo')
      return inner.getPrompt({ name, arguments: values })
    },
    read: (uri) => client.readResource('demo', uri),
    close: () => client.close(),
  }
}
