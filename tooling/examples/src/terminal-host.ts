// A host for the terminal: `terminal-host <url> [tool [arguments as JSON]]`, or `terminal-host <url> --log-out`.
import { parseArgs } from 'node:util'
import { authErrorOf, oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import { type Client, createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'log-out': { type: 'boolean' } } })
const stop = new AbortController()
process.once('SIGINT', () => stop.abort(new Error('interrupted')))
// A login may take minutes.
const requestOptions = { signal: stop.signal, timeoutMs: 300_000 }

const auth = oauth({
  client: { name: 'Terminal host' },
  redirect: loopbackRedirect(),
  store: fileStore('terminal-host'),
})

async function run([url = '', ...call]: readonly string[]): Promise<string> {
  await using connection = connectHttp(url, { auth })
  const client = createClient(connection, { name: 'terminal-host', version: '1.0.0' })
  return await (call.length === 0 ? listTools(client) : callTool(client, call))
}

async function listTools(client: Client): Promise<string> {
  const tools = await client.listTools(requestOptions)
  return tools.map(({ name, description = '' }) => `${name}  ${description}\n`).join('')
}

async function callTool(client: Client, [name = '', args = '{}']: readonly string[]): Promise<string> {
  const { content, isError } = await client.callTool(name, JSON.parse(args), requestOptions)
  if (isError === true) process.exitCode = 1
  return content.map((part) => `${part.type === 'text' ? part.text : JSON.stringify(part)}\n`).join('')
}

try {
  const [url] = positionals
  if (url === undefined) throw new Error('Give the URL of an MCP server, such as https://mcp.example.com/mcp')
  if (values['log-out'] === true) await auth.logout(url)
  else process.stdout.write(await run(positionals))
} catch (error) {
  const { message } = authErrorOf(error) ?? (error instanceof Error ? error : new Error(String(error)))
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
