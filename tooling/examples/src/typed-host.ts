import { createInterface } from 'node:readline/promises'
import { createClient } from '@x/client'
import { readForm } from '@x/client/forms'
import { gateway } from '@x/gateway'
import { readServersFile } from '@x/gateway/node'

const [file = 'mcp.json', tool = '', args = '{}'] = process.argv.slice(2)
const host = { name: 'my-host', version: '1.0.0' }
const server = gateway({ ...host, upstreams: await readServersFile(file, { name: host.name }) })
const terminal = createInterface({ input: process.stdin, output: process.stdout })
const stopped = new AbortController() // by Ctrl-C
const closed = new AbortController() // by Ctrl-D, or at the end of a pipe
terminal.once('SIGINT', () => stopped.abort()).once('close', () => closed.abort())
const client = createClient(server, {
  ...host,
  async elicit({ message, requestedSchema }, { target, signal }) {
    const content: Record<string, string> = {}
    const options = { signal: AbortSignal.any([signal, closed.signal]) }
    try {
      for (const { name, label } of readForm(requestedSchema).fields)
        content[name] = await terminal.question(`${target} asks: ${message} ${label}: `, options)
    } catch {
      return { action: 'cancel' }
    }
    return { action: 'accept', content }
  },
})
try {
  const { content } = await client.callTool(tool, JSON.parse(args), { signal: stopped.signal })
  for (const block of content) console.log(block.type === 'text' ? block.text : `[${block.type}]`)
} catch (error) {
  if (!stopped.signal.aborted) throw error
} finally {
  terminal.close()
  await server.close()
}
