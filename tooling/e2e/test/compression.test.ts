import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createGate } from '@tooling/vitest/gate'
import { describeNeeding } from '@tooling/vitest/needs'
import { legacy } from '@x/legacy'
import { createServer, form, tool } from '@x/server'
import { nodeHandler, serveHttp } from '@x/transport-http/node'
import compression from 'compression'
import express from 'express'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keys, stateWith } from './asking.ts'
import { compressingCaddy, compressingNginx, type ProxyKind, startProxy } from './proxies.ts'

// A tool that ends only when the client has read its progress. Behind a front that holds it back, the call never ends.
function createWaitingServer() {
  const progressRead = createGate()
  const waits = tool('waits', {
    description: 'Reports progress, and ends when it has arrived',
    run: async (_, ctx) => {
      ctx.progress(1)
      await progressRead.opened
      return 'arrived'
    },
  })
  const asks = tool('asks', {
    description: 'Asks for a name',
    run: async (_, ctx) =>
      (await ctx.elicit('name', { message: 'Whose?', schema: form(z.object({ name: z.string() })) })).name,
  })
  const server = createServer({
    name: 's',
    version: '1.0.0',
    state: stateWith(keys.first),
    tools: [waits, asks],
    extensions: [legacy()],
  })
  return { server, progressRead }
}

type Front = (server: ReturnType<typeof createWaitingServer>['server']) => Promise<AsyncDisposable & { url: string }>

const behindMiddleware: Front = async (server) => {
  const app = express()
  app.use(compression({ threshold: 0 }))
  app.all('/mcp', nodeHandler(server))
  const http = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  const address = http.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const dispose = async (): Promise<void> => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}/mcp`, [Symbol.asyncDispose]: dispose }
}

function behindProxy(program: string, kind: ProxyKind, directives?: string): Front {
  return async (server) => {
    const http = await serveHttp(server, { allowedHosts: ['127.0.0.1', 'mcp'] })
    const proxy = await startProxy(program, kind, { ports: [http.port], directives })
    const dispose = async (): Promise<void> => {
      await proxy[Symbol.asyncDispose]()
      await http.close({ graceMs: 0 })
    }
    return { url: proxy.url, [Symbol.asyncDispose]: dispose }
  }
}

describe('behind the middleware compression', () => {
  testFront(behindMiddleware)
})
describeNeeding('nginx', 'behind nginx that compresses', (program) => testFront(behindProxy(program, compressingNginx)))
// Caddy ignores `no-transform`, so docs/guides/http.md has this matcher.
describeNeeding('caddy', 'behind Caddy that compresses JSON', (program) =>
  testFront(behindProxy(program, compressingCaddy, 'match header Content-Type application/json*')),
)

function testFront(open: Front): void {
  // The fetch of Node, which these clients use, accepts gzip.
  test.each([
    ['2026-07-28', { pin: '2026-07-28' }],
    ['an older revision', 'legacy'],
  ] as const)('a host of %s reads progress before the call ends, and is asked [ROB-004]', async (_revision, mode) => {
    const { server, progressRead } = createWaitingServer()
    await using front = await open(server)
    const capabilities = { elicitation: { form: {} } }
    const client = new Client({ name: 'host', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities })
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }))
    await client.connect(new StreamableHTTPClientTransport(new URL(front.url)))
    const onprogress = (): void => progressRead.open()
    const results = [
      await client.callTool({ name: 'waits', arguments: {} }, { onprogress }),
      await client.callTool({ name: 'asks', arguments: {} }),
    ]
    expect(results.map(({ content }) => content)).toMatchObject([[{ text: 'arrived' }], [{ text: 'Ada' }]])
    await client.close()
  })
}
