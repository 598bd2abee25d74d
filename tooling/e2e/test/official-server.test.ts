import { createServer as createHttpServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import {
  type Client,
  type ClientEvent,
  type ClientOptions,
  createClient,
  type LogMessage,
  type Progress,
  type SubscriptionEvent,
} from '@x/client'
import type { Exchange } from '@x/exchange'
import { connectHttp } from '@x/transport-http/client'
import { connectStdio } from '@x/transport-stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { createGate } from '@tooling/vitest/gate'
import { officialServers } from './interop/official-server.ts'

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/official-server.ts', import.meta.url))
})
afterAll(() => program?.[Symbol.asyncDispose]())

interface Connected extends AsyncDisposable {
  readonly connection: Exchange
}

async function overHttp(): Promise<Connected> {
  const servers = officialServers((_, uri) => {
    handler.notify.toolsChanged()
    handler.notify.resourceUpdated(uri)
  })
  const handler = createMcpHandler(servers)
  const handle = toNodeHandler(handler)
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
  return { connection: connection.exchange, [Symbol.asyncDispose]: dispose }
}

function overStdio(): Promise<Connected> {
  const connection = connectStdio({ command: process.execPath, args: [program.path], stderr: 'inherit' })
  return Promise.resolve({ connection: connection.exchange, [Symbol.asyncDispose]: () => connection.close() })
}

interface OurPeer extends AsyncDisposable {
  readonly client: Client
}

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
] as const)('our client with the official server at 2026-07-28, over %s', (_, open: () => Promise<Connected>) => {
  async function connect(options: Partial<ClientOptions> = {}): Promise<OurPeer> {
    const { connection, ...rest } = await open()
    return { client: createClient(connection, { name: 'ours', version: '1.0.0', ...options }), ...rest }
  }

  test('discovers the server', async () => {
    await using peer = await connect()
    expect((await peer.client.discover()).supportedVersions).toContain('2026-07-28')
    expect(peer.client.serverInfo).toMatchObject({ name: 'official', version: '2.0.0' })
  })

  test('reads every list', async () => {
    await using peer = await connect()
    const names = ['greet', 'sum', 'broken', 'count', 'travel', 'wait', 'stopped', 'change']
    expect((await peer.client.listTools()).map(({ name }) => name)).toEqual(names)
    expect((await peer.client.listPrompts()).map(({ name }) => name)).toEqual(['review'])
    expect((await peer.client.listResources()).map(({ name }) => name)).toEqual(['one', 'bytes'])
    const templates = await peer.client.listResourceTemplates()
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(['book://{author}/{title}'])
  })

  test('calls tools with text and structured content', async () => {
    await using peer = await connect()
    const { content } = await peer.client.callTool('greet', { name: 'Ζωή 🎈' })
    expect(content).toEqual([{ type: 'text', text: 'Hello, Ζωή 🎈!' }])
    expect((await peer.client.callTool('sum', { a: 1, b: 2 })).structuredContent).toEqual({ total: 3 })
  })

  test('gets a prompt and completes its argument', async () => {
    await using peer = await connect()
    const { messages } = await peer.client.getPrompt('review', { language: 'rust' })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this rust' } }])
    const argument = { name: 'language', value: 'ru' }
    const { completion } = await peer.client.complete({ type: 'ref/prompt', name: 'review' }, argument)
    expect(completion.values).toEqual(['ruby', 'rust'])
  })

  test('reads resources as text, as bytes and by template, and completes the variables of the template', async () => {
    await using peer = await connect()
    expect((await peer.client.readResource('test://one')).contents).toMatchObject([{ text: 'Text one' }])
    expect((await peer.client.readResource('test://bytes')).contents).toMatchObject([{ blob: 'AP8K' }])
    expect((await peer.client.readResource('book://Ada/Notes')).contents).toMatchObject([{ text: 'Notes by Ada' }])
    const argument = { name: 'author', value: 'Ad' }
    const ref = { type: 'ref/resource', uri: 'book://{author}/{title}' } as const
    expect((await peer.client.complete(ref, argument)).completion.values).toEqual(['Ada', 'Adele'])
  })

  test('receives progress, and logs from the requested level', async () => {
    await using peer = await connect()
    const progressed: Progress[] = []
    const logged: LogMessage[] = []
    const onProgress = (progress: Progress): void => void progressed.push(progress)
    const onLog = (message: LogMessage): void => void logged.push(message)
    await peer.client.callTool('count', {}, { onProgress, onLog, logLevel: 'info' })
    expect(progressed).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })))
    expect(logged).toEqual([{ level: 'warning', data: { left: 0 }, logger: 'counter' }])
  })

  test('cancels a call, and the signal of its handler aborts', async () => {
    await using peer = await connect()
    const controller = new AbortController()
    const started = createGate()
    const onProgress = (): void => started.open()
    const call = peer.client.callTool('wait', {}, { signal: controller.signal, onProgress })
    const failure = call.catch((error: unknown) => error)
    await started.opened
    const reason = new Error('the user pressed stop')
    controller.abort(reason)
    expect(await failure).toBe(reason)
    expect(textOf(await peer.client.callTool('stopped'))).toBe('stopped')
  })

  test('distinguishes a tool that failed from one that does not exist', async () => {
    await using peer = await connect()
    expect(await peer.client.callTool('broken', {})).toMatchObject({ isError: true })
    await expect(peer.client.callTool('nothing', {})).rejects.toMatchObject({ code: 'rpc', rpc: { code: -32602 } })
  })

  test('answers the question of a tool and receives the result', async () => {
    const rounds: ClientEvent[] = []
    await using peer = await connect({
      extensions: [
        { extends: 'client', name: 'events', start: () => ({ observe: (event) => void rounds.push(event) }) },
      ],
      elicit: ({ message }) => ({ action: 'accept', content: { city: message === 'Where to?' ? 'Oslo' : 'nowhere' } }),
    })
    expect(textOf(await peer.client.callTool('travel'))).toBe('Off to Oslo')
    expect(rounds.filter(({ type }) => type === 'round')).toMatchObject([
      { status: 'input_required', stateBytes: 'the official state'.length },
      { status: 'complete', stateBytes: 0 },
    ])
  })

  test('returns the question from manualRounds', async () => {
    await using peer = await connect({ capabilities: { elicitation: {} } })
    const round = await peer.client.manualRounds.callTool('travel')
    if (round.status === 'complete') throw new Error('the server asked nothing')
    expect(Object.keys(round.requests)).toEqual(['city'])
    const last = await round.resume({ city: { action: 'accept', content: { city: 'Lima' } } })
    expect(last).toMatchObject({ status: 'complete', result: { content: [{ text: 'Off to Lima' }] } })
  })
  test('subscribes and receives only the requested changes until it closes the stream', async () => {
    await using peer = await connect()
    const filter = { toolsListChanged: true, resourceSubscriptions: ['test://one'] }
    const received: SubscriptionEvent[] = []
    for await (const event of peer.client.listen(filter)) {
      received.push(event)
      if (event.type === 'opened') await peer.client.callTool('change')
      if (received.length === 3) break
    }
    expect(received[0]).toEqual({ type: 'opened', notifications: filter, mayHaveMissedChanges: false })
    const changes = [{ type: 'toolsListChanged' }, { type: 'resourceUpdated', uri: 'test://one' }]
    expect(received.slice(1)).toEqual(expect.arrayContaining(changes))
    expect(textOf(await peer.client.callTool('greet', { name: 'Ada' }))).toBe('Hello, Ada!')
  })
})
