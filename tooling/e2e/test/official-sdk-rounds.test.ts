import { createServer as createHttpServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { createClient, type RoundView } from '@x/client'
import { createServer } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keys, resolveTool, stateWith, textOf } from './asking.ts'

describe('the official client, with our tool that asks twice, at 2026-07-28', () => {
  type Answer = { action: 'accept'; content: Record<string, string | number> } | { action: 'decline' }

  async function connect(answer: (message: string) => Answer, saved: string[] = []) {
    const tools = [resolveTool({ saved, runs: [] })]
    const http = await serveHttp(createServer({ name: 'ours', version: '1', tools, state: stateWith(keys.first) }))
    const client = new Client(
      { name: 'official', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } },
    )
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message))
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
    const dispose = async (): Promise<void> => {
      await client.close()
      await http.close()
    }
    return { client, [Symbol.asyncDispose]: dispose }
  }

  test('answers both questions and gets the result', async () => {
    const asked: string[] = []
    const saved: string[] = []
    await using peer = await connect((message) => {
      asked.push(message)
      const content = asked.length === 1 ? { resolution: 'Duplicate' } : { original: 17 }
      return { action: 'accept', content }
    }, saved)
    const result = await peer.client.callTool({ name: 'resolve', arguments: { id: 4522 } })
    expect(result.content).toEqual([{ type: 'text', text: '#4522 duplicates #17 (save 1)' }])
    expect(asked).toEqual(['How was #4522 resolved?', 'Of which item?'])
    expect(saved).toHaveLength(1)
  })

  test('declines, and is asked no more', async () => {
    let asked = 0
    await using peer = await connect(() => {
      asked += 1
      return { action: 'decline' }
    })
    expect(await peer.client.callTool({ name: 'resolve', arguments: { id: 1 } })).toMatchObject({ isError: true })
    expect(asked).toBe(1)
  })
})

describe('our client, with a tool of the official server that asks, at 2026-07-28', () => {
  const cities = z.object({ city: z.string() })

  function officialServer(): McpServer {
    const server = new McpServer({ name: 'official', version: '2.0.0' })
    server.registerTool('travel', { description: 'Asks where to', inputSchema: z.object({}) }, (_, ctx) => {
      const answer = acceptedContent<{ city: string }>(ctx.mcpReq.inputResponses, 'city')
      if (answer !== undefined) return { content: [{ type: 'text', text: `Off to ${answer.city}` }] }
      return inputRequired({
        inputRequests: { city: inputRequired.elicit({ message: 'Where to?', requestedSchema: cities }) },
        requestState: 'the official state',
      })
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
    return { connection, [Symbol.asyncDispose]: dispose }
  }

  test('answers its question and gets the result', async () => {
    await using peer = await connect()
    const rounds: RoundView[] = []
    const client = createClient(peer.connection, {
      name: 'ours',
      version: '1.0.0',
      elicit: ({ message }) => ({ action: 'accept', content: { city: message === 'Where to?' ? 'Oslo' : 'nowhere' } }),
      rounds: { onRound: (round) => void rounds.push(round) },
    })
    expect(textOf(await client.callTool('travel'))).toBe('Off to Oslo')
    expect(rounds.map(({ status, stateBytes }) => [status, stateBytes])).toEqual([
      ['input_required', 'the official state'.length],
      ['complete', 0],
    ])
  })

  test('gives the question to whoever asks for its rounds', async () => {
    await using peer = await connect()
    const capabilities = { elicitation: {} }
    const client = createClient(peer.connection, { name: 'ours', version: '1.0.0', capabilities })
    const round = await client.manual.callTool('travel')
    if (round.status === 'complete') throw new Error('the server asked nothing')
    expect(Object.keys(round.requests)).toEqual(['city'])
    const last = await round.resume({ city: { action: 'accept', content: { city: 'Lima' } } })
    expect(last).toMatchObject({ status: 'complete', result: { content: [{ text: 'Off to Lima' }] } })
  })
})
