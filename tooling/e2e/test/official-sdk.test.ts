import { createServer as createHttpServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { createClient } from '@x/client'
import { createServer, prompt, resource, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const ours = createServer({
  name: 'ours',
  version: '1.0.0',
  tools: [
    tool('greet', {
      description: 'Greets',
      input: z.object({ name: z.string() }),
      run: ({ name }) => `Hello, ${name}!`,
    }),
    tool('sum', {
      description: 'Adds',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ total: z.number() }),
      run: ({ a, b }) => ({ total: a + b }),
    }),
    tool('count', {
      description: 'Reports progress',
      run: (_, ctx) => {
        for (const step of [1, 2, 3]) ctx.progress(step, 3)
        return 'counted'
      },
    }),
    tool('broken', {
      description: 'Fails',
      run: () => {
        throw new Error('the disk is full')
      },
    }),
    tool('deploy', {
      description: 'Takes an argument that a header repeats',
      input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
      run: ({ region }) => region,
    }),
  ],
  prompts: [
    prompt('review', {
      description: 'Reviews',
      input: z.object({ code: z.string() }),
      run: ({ code }) => `Review ${code}`,
    }),
  ],
  resources: [resource('test://one', { name: 'one', mimeType: 'text/plain', read: () => 'One' })],
  pageSize: 2,
})

describe('the official client, with our server, at 2026-07-28', () => {
  async function connect() {
    const http = await serveHttp(ours)
    const client = new Client(
      { name: 'official', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
    const dispose = async (): Promise<void> => {
      await client.close()
      await http.close()
    }
    return { client, [Symbol.asyncDispose]: dispose }
  }

  test('connects in the modern era', async () => {
    await using peer = await connect()
    expect(peer.client.getProtocolEra()).toBe('modern')
    expect(peer.client.getServerVersion()).toMatchObject({ name: 'ours', version: '1.0.0' })
  })

  test('lists every tool over several pages', async () => {
    await using peer = await connect()
    const { tools } = await peer.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['greet', 'sum', 'count', 'broken', 'deploy'])
  })

  test('calls tools, with text, structured content and a mirrored header', async () => {
    await using peer = await connect()
    await peer.client.listTools()
    const greeted = await peer.client.callTool({ name: 'greet', arguments: { name: 'Ada' } })
    expect(greeted.content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
    const added = await peer.client.callTool({ name: 'sum', arguments: { a: 1, b: 2 } })
    expect(added.structuredContent).toEqual({ total: 3 })
    const deployed = await peer.client.callTool({ name: 'deploy', arguments: { region: 'Zürich' } })
    expect(deployed.content).toEqual([{ type: 'text', text: 'Zürich' }])
  })

  test('hears of progress', async () => {
    await using peer = await connect()
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress)
    await peer.client.callTool({ name: 'count', arguments: {} }, { onprogress })
    expect(seen).toEqual([1, 2, 3])
  })

  test('gets a prompt and reads a resource', async () => {
    await using peer = await connect()
    const { messages } = await peer.client.getPrompt({ name: 'review', arguments: { code: 'x = 1' } })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review x = 1' } }])
    expect((await peer.client.readResource({ uri: 'test://one' })).contents).toMatchObject([{ text: 'One' }])
  })

  test('tells a tool that failed from one that does not exist', async () => {
    await using peer = await connect()
    expect(await peer.client.callTool({ name: 'broken', arguments: {} })).toMatchObject({ isError: true })
    await expect(peer.client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  })
})

describe('our client, with the official server, at 2026-07-28', () => {
  function officialServer(): McpServer {
    const server = new McpServer({ name: 'official', version: '2.0.0' })
    const inputSchema = z.object({ name: z.string() })
    server.registerTool('greet', { description: 'Greets', inputSchema }, ({ name }) => ({
      content: [{ type: 'text', text: `Hello, ${name}!` }],
    }))
    server.registerTool('broken', { description: 'Fails', inputSchema: z.object({}) }, () => {
      throw new Error('the disk is full')
    })
    return server
  }

  async function connect() {
    const handle = toNodeHandler(createMcpHandler(officialServer))
    // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
    const http = createHttpServer((request, response) => void handle(request, response))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const address = http.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const connection = connectHttp(`http://127.0.0.1:${port}/mcp`)
    const dispose = async (): Promise<void> => {
      await connection.close()
      http.close()
    }
    return { client: createClient(connection, { name: 'ours', version: '1.0.0' }), [Symbol.asyncDispose]: dispose }
  }

  test('discovers it', async () => {
    await using peer = await connect()
    expect((await peer.client.discover()).supportedVersions).toContain('2026-07-28')
    expect(peer.client.server).toMatchObject({ name: 'official', version: '2.0.0' })
  })

  test('lists and calls its tools', async () => {
    await using peer = await connect()
    expect((await peer.client.listTools()).map(({ name }) => name)).toEqual(['greet', 'broken'])
    const { content } = await peer.client.callTool('greet', { name: 'Ada' })
    expect(content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
  })

  test('tells a tool that failed from one that does not exist', async () => {
    await using peer = await connect()
    expect(await peer.client.callTool('broken', {})).toMatchObject({ isError: true })
    await expect(peer.client.callTool('nothing', {})).rejects.toMatchObject({ code: 'rpc', rpc: { code: -32602 } })
  })
})
