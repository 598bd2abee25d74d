import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findFreePort } from '@tooling/real-servers/free-port'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { serveHttp } from '@x/transport-http/node'
import { bundleProgram } from './child-program.ts'
import { ourServerOfBothEras } from './interop/our-definition.ts'

const require = createRequire(import.meta.url)

/** A connected client of the v1 SDK, and the questions that it received. */
export interface OlderPeer extends AsyncDisposable {
  readonly client: Client
  readonly asked: readonly string[]
}
/** Creates a client of the v1 SDK whose user resolves every item as a duplicate of #17. */
function olderClient(): { readonly client: Client; readonly asked: readonly string[] } {
  const asked: string[] = []
  const client = new Client({ name: 'v1', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return {
      action: 'accept',
      content: params.message.startsWith('How') ? { resolution: 'Duplicate' } : { original: 17 },
    }
  })
  return { client, asked }
}

/** Connects a client to our server over HTTP. */
export async function overHttp(): Promise<OlderPeer> {
  const http = await serveHttp(ourServerOfBothEras())
  const { client, asked } = olderClient()
  await connectOverHttp(client, http.url)
  const dispose = async (): Promise<void> => {
    await client.close()
    await http.close({ graceMs: 0 })
  }
  return { client, asked, [Symbol.asyncDispose]: dispose }
}

/** Connects a client of the v1 SDK to an endpoint. */
async function connectOverHttp(client: Client, url: string): Promise<void> {
  const transport = new StreamableHTTPClientTransport(new URL(url))
  // The types of the SDK reject its own transport under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client['connect']>[0])
}

/** Connects a client to a program over stdio. */
export async function overStdio(program: string): Promise<OlderPeer> {
  const { client, asked } = olderClient()
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program] }))
  return { client, asked, [Symbol.asyncDispose]: () => client.close() }
}

/** Connects a client to our server through `mcp-remote`, a stdio server in front of an HTTP endpoint. */
export async function overRemote(): Promise<OlderPeer> {
  const http = await serveHttp(ourServerOfBothEras())
  const { client, asked } = olderClient()
  const path = join(dirname(require.resolve('mcp-remote/package.json')), 'dist/proxy.js')
  const args = [path, http.url, '--transport', 'http-only']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  const dispose = async (): Promise<void> => {
    await client.close()
    await http.close({ graceMs: 0 })
  }
  return { client, asked, [Symbol.asyncDispose]: dispose }
}

/** Connects a client to our server through `mcp-proxy`, an HTTP endpoint in front of a stdio server. */
export async function overProxy(): Promise<OlderPeer> {
  const path = join(dirname(require.resolve('mcp-proxy')), 'bin/mcp-proxy.mjs')
  const program = await bundleProgram(new URL('./programs/all-revisions.ts', import.meta.url))
  const port = await findFreePort()
  const args = [
    path,
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    '--server',
    'stream',
    '--',
    process.execPath,
    program.path,
  ]
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const { client, asked } = olderClient()
  const dispose = async (): Promise<void> => {
    await client.close()
    child.kill()
    await program[Symbol.asyncDispose]()
  }
  await retry(() => connectOverHttp(client, `http://127.0.0.1:${port}/mcp`))
  return { client, asked, [Symbol.asyncDispose]: dispose }
}

async function retry(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Calls the tool that asks, like a host of revision 2025-11-25. Resolves to the results. */
export async function callAsOlderHost(url: string, count: number): Promise<readonly string[]> {
  const client = new Client({ name: 'older host', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }))
  await connectOverHttp(client, url)
  const texts: string[] = []
  for (let call = 0; call < count; call += 1)
    texts.push(JSON.stringify((await client.callTool({ name: 'greet' })).content))
  await client.close()
  return texts
}
