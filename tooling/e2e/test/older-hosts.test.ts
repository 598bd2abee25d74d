import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { node24 } from '@tooling/node-versions'
import { serveHttp } from '@x/transport-http/node'
import { expect, describe, test } from 'vitest'
import { bundleProgram } from './child-program.ts'
import { ourServerOfBothEras } from './interop/our-definition.ts'
import { overProxy } from './older-client.ts'

test('mcp-proxy forwards calls. It declares no elicitation, and the result names the missing capability [LEG-014]', async () => {
  await using peer = await overProxy()
  expect(await peer.client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).toMatchObject({
    content: [{ text: 'Hello, Ada!' }],
  })
  expect(await peer.client.callTool({ name: 'resolve', arguments: { id: 1 } })).toMatchObject({
    isError: true,
    content: [{ text: 'This needs the client capability elicitation.form' }],
  })
})

describe.each(['legacy', 'auto'] as const)('the official v2 client in its mode %s', (mode) => {
  test('answers two questions during a call', async () => {
    await using http = await serveHttp(ourServerOfBothEras())
    const options = { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } }
    const client = new Client({ name: 'v2', version: '1.0.0' }, options)
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: asked.length === 1 ? { resolution: 'Duplicate' } : { original: 17 } }
    })
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
    expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern')
    const { content } = await client.callTool({ name: 'resolve', arguments: { id: 1 } })
    expect(content).toEqual([{ type: 'text', text: '#1 duplicates #17 (save 1)' }])
    await client.close()
  })
})

test.each([
  ['2026-07-28, which it discovers first', true],
  ['2025-11-25', false],
])('the AI SDK calls a tool that asks, at %s', async (_, protocolVersionDiscovery) => {
  await using http = await serveHttp(ourServerOfBothEras())
  const client = await createMCPClient({
    transport: { type: 'http', url: http.url },
    capabilities: { elicitation: {} },
    protocolVersionDiscovery,
  })
  const asked: string[] = []
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: asked.length === 1 ? { resolution: 'Duplicate' } : { original: 17 } }
  })
  const result = await client.callTool({ name: 'resolve', arguments: { id: 1 } })
  expect(result).toMatchObject({ content: [{ text: '#1 duplicates #17 (save 1)' }] })
  await client.close()
  await http.close({ graceMs: 0 })
})

test('the LangChain adapters load the tools and call one', async () => {
  await using http = await serveHttp(ourServerOfBothEras())
  const client = new MultiServerMCPClient({ mcpServers: { ours: { transport: 'http', url: http.url } } })
  const tools = await client.getTools()
  const greet = tools.find(({ name }) => name.endsWith('greet'))
  expect(await greet?.invoke({ name: 'Ada' })).toBe('Hello, Ada!')
  const resolve = tools.find(({ name }) => name.endsWith('resolve'))
  await expect(resolve?.invoke({ id: 1 })).rejects.toThrow('This needs the client capability elicitation.form')
  await client.close()
})

describe('the command line of the Inspector with its defaults', () => {
  test('calls tools over HTTP, and the result names the missing capability [LEG-014]', async () => {
    await using http = await serveHttp(ourServerOfBothEras())
    expect(await inspect([http.url], 'greet', 'name=Ada')).toEqual({
      code: 0,
      result: { content: [{ type: 'text', text: 'Hello, Ada!' }] },
    })
    const rejected = await inspect([http.url], 'resolve', 'id=1')
    const text = 'This needs the client capability elicitation.form'
    expect(rejected.result).toEqual({ content: [{ type: 'text', text }], isError: true })
  })

  test('calls tools over stdio', async () => {
    await using program = await bundleProgram(new URL('./programs/all-revisions.ts', import.meta.url))
    expect(await inspect([process.execPath, program.path], 'greet', 'name=Ada')).toEqual({
      code: 0,
      result: { content: [{ type: 'text', text: 'Hello, Ada!' }] },
    })
  })
})

const require = createRequire(import.meta.url)

/** Runs the Inspector once. It requires a newer Node than these packages. */
function inspect(
  target: readonly string[],
  tool: string,
  argument: string,
): Promise<{ readonly code: number; readonly result: unknown }> {
  const root = dirname(require.resolve('@modelcontextprotocol/inspector/package.json'))
  const program = join(root, 'clients/launcher/build/index.js')
  const call = ['--method', 'tools/call', '--tool-name', tool, '--tool-arg', argument, '--format', 'json']
  return new Promise((resolve, reject) => {
    execFile(node24, [program, '--cli', ...target, ...call], (error, out, err) => {
      const code = error === null ? 0 : error.code
      if (typeof code !== 'number' || out === '') return reject(new Error(`the Inspector printed: ${err}`))
      const printed = JSON.parse(out) as { readonly result: unknown }
      resolve({ code, result: printed.result })
    })
  })
}
