import { auth, createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { withLogin } from './oauth.mjs'

export async function connect(server, { ask }) {
  const { url, command, args, env } = server
  const capabilities = { elicitation: {} }
  const client = await withLogin(server, auth, (authProvider) => {
    const transport = url
      ? { type: 'http', url, authProvider }
      : new Experimental_StdioMCPTransport({ command, args, env })
    return createMCPClient({ transport, capabilities })
  })
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => ask(params))
  return {
    async call(name, values, abortSignal) {
      const tools = await client.tools()
      if (!tools[name]) throw new Error(`the server has no tool "${name}"`)
      return tools[name].execute(values, { messages: [], toolCallId: 'call', abortSignal })
    },
    prompt: (name, values) => client.getPrompt({ name, arguments: values }),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  }
}
