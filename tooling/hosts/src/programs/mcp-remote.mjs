import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

export async function connect({ url }, { ask, report }) {
  const capabilities = { elicitation: { form: {}, url: {} } }
  const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ask(params))
  const { PATH, HOME, BROWSER } = process.env
  await client.connect(new StdioClientTransport({ command: 'mcp-remote', args: [url], env: { PATH, HOME, BROWSER } }))
  return {
    async call(name, values, signal) {
      const { tools } = await client.listTools()
      if (!tools.some((tool) => tool.name === name)) throw new Error(`the server has no tool "${name}"`)
      const options = { signal, onprogress: ({ message }) => report(message) }
      return client.callTool({ name, arguments: values }, undefined, options)
    },
    prompt: (name, values) => client.getPrompt({ name, arguments: values }),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  }
}
