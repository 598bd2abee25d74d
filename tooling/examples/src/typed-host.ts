import { createInterface } from 'node:readline/promises'
import { createClient } from '@x/client'
import { readForm } from '@x/client/forms'
import { gateway } from '@x/gateway'
import { readServersFile } from '@x/gateway/node'

const [file = 'mcp.json', tool = '', args = '{}'] = process.argv.slice(2)
const host = { name: 'my-host', version: '1.0.0' }
const server = gateway({ ...host, upstreams: await readServersFile(file, { name: host.name }) })
const terminal = createInterface({ input: process.stdin, output: process.stdout })
const client = createClient(server, {
  ...host,
  async elicit({ message, requestedSchema }, { target, signal }) {
    const content: Record<string, string> = {}
    for (const { name, label } of readForm(requestedSchema).fields)
      content[name] = await terminal.question(`${target} asks: ${message} ${label}: `, { signal })
    return { action: 'accept', content }
  },
})
const { content } = await client.callTool(tool, JSON.parse(args)).finally(() => server.close())
for (const block of content) console.log(block.type === 'text' ? block.text : `[${block.type}]`)
terminal.close()
