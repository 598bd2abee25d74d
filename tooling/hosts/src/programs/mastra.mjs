import { randomUUID } from 'node:crypto'
import { MCPClient } from '@mastra/mcp'
import { auth } from '@modelcontextprotocol/client'
import { withLogin } from './oauth.mjs'

export async function connect(server, { ask, report }) {
  const { url, command, args, env } = server
  const client = await withLogin(server, auth, async (authProvider) => {
    const demo = {
      ...(url ? { url: new URL(url), authProvider } : { command, args, env }),
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequests: ({ params }) => ask(params),
      enableProgressTracking: true,
    }
    const connected = new MCPClient({ id: randomUUID(), servers: { demo } })
    await connected.progress.onUpdate('demo', ({ message }) => report(message))
    return connected
  })
  // A server of an older revision has nothing to subscribe to.
  await client.tools.onListChanged('demo', () => {}).catch(() => {})
  return {
    async call(name, values, abortSignal) {
      const tools = await client.listTools()
      const tool = tools[`demo_${name}`]
      if (!tool) throw new Error(`the server has no tool "${name}"`)
      return tool.execute(values, { abortSignal })
    },
    prompt: (name, values) => client.prompts.get({ serverName: 'demo', name, args: values }),
    read: (uri) => client.resources.read('demo', uri),
    close: () => client.disconnect(),
  }
}
