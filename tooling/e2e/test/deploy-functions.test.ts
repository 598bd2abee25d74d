import type { LambdaStreamHandler } from '@x/transport-http/lambda'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { keys } from './asking.ts'
import { bundleExample } from './bundle-example.ts'

describe('a function of the folder', () => {
  /** Bundles a file with the required environment and imports it, as the platform does. */
  async function importExample(name: string): Promise<Record<string, unknown>> {
    const bundle = await bundleExample(name)
    onTestFinished(() => bundle[Symbol.asyncDispose]())
    vi.stubEnv('STATE_KEYS', keys.first)
    vi.stubEnv('ALLOWED_HOSTS', 'mcp.example.com')
    onTestFinished(() => void vi.unstubAllEnvs())
    return import(bundle.path) as Promise<Record<string, unknown>>
  }

  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
  const headers = {
    host: 'mcp.example.com',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  }

  test('api/mcp.mjs serves the tools', async () => {
    const { POST } = (await importExample('api/mcp.mjs')) as { POST: (request: Request) => Promise<Response> }
    const response = await POST(new Request('https://mcp.example.com/api/mcp', { method: 'POST', headers, body }))
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { result: { tools: [{ name: 'greet' }, {}] } },
    ])
  })

  test('lambda.mjs serves the tools', async () => {
    const chunks: Uint8Array[] = []
    const stream = { write: (chunk: Uint8Array) => chunks.push(chunk) > 0, end: () => {}, once: () => {} }
    vi.stubGlobal('awslambda', {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: { from: () => stream },
    })
    onTestFinished(() => void vi.unstubAllGlobals())
    const { handler } = (await importExample('lambda.mjs')) as { handler: LambdaStreamHandler }
    const requestContext = { domainName: 'mcp.example.com', http: { method: 'POST' } }
    await handler({ rawPath: '/mcp', headers, requestContext, body }, stream, { getRemainingTimeInMillis: () => 5000 })
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ result: { tools: [{ name: 'greet' }, {}] } })
  })
})
