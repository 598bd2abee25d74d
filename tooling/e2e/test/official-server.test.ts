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
import { serveOfficialV2 } from './official-v2-server.ts'

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
  const served = await serveOfficialV2(handler)
  const connection = connectHttp(served.url)
  const dispose = async (): Promise<void> => {
    await connection.close()
    await served.close()
  }
  return { connection: connection.exchange, [Symbol.asyncDispose]: dispose }
}

function overStdio(): Promise<Connected> {
  const connection = connectStdio({ command: process.execPath, args: [program.path], stderr: 'inherit' })
  return Promise.resolve({ connection: connection.exchange, [Symbol.asyncDispose]: () => connection.close() })
}

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
] as const)('our client with the official server at 2026-07-28, over %s', (_, open: () => Promise<Connected>) => {
  let connected: Connected
  beforeAll(async () => {
    connected = await open()
  })
  afterAll(() => connected?.[Symbol.asyncDispose]())
  const connect = (options: Partial<ClientOptions> = {}): Client =>
    createClient(connected.connection, { name: 'ours', version: '1.0.0', ...options })

  test('discovers the server', async () => {
    const client = connect()
    expect((await client.discover()).supportedVersions).toContain('2026-07-28')
    expect(client.serverInfo).toMatchObject({ name: 'official', version: '2.0.0' })
  })

  test('reads every list', async () => {
    const client = connect()
    const names = ['greet', 'sum', 'broken', 'count', 'travel', 'wait', 'stopped', 'change']
    expect((await client.listTools()).map(({ name }) => name)).toEqual(names)
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['review'])
    expect((await client.listResources()).map(({ name }) => name)).toEqual(['one', 'bytes'])
    const templates = await client.listResourceTemplates()
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(['book://{author}/{title}'])
  })

  test('calls tools with text and structured content', async () => {
    const client = connect()
    const { content } = await client.callTool('greet', { name: 'Ζωή 🎈' })
    expect(content).toEqual([{ type: 'text', text: 'Hello, Ζωή 🎈!' }])
    expect((await client.callTool('sum', { a: 1, b: 2 })).structuredContent).toEqual({ total: 3 })
  })

  test('gets a prompt and completes its argument', async () => {
    const client = connect()
    const { messages } = await client.getPrompt('review', { language: 'rust' })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this rust' } }])
    const argument = { name: 'language', value: 'ru' }
    const { completion } = await client.complete({ type: 'ref/prompt', name: 'review' }, argument)
    expect(completion.values).toEqual(['ruby', 'rust'])
  })

  test('reads resources as text, as bytes and by template, and completes the variables of the template', async () => {
    const client = connect()
    expect((await client.readResource('test://one')).contents).toMatchObject([{ text: 'Text one' }])
    expect((await client.readResource('test://bytes')).contents).toMatchObject([{ blob: 'AP8K' }])
    expect((await client.readResource('book://Ada/Notes')).contents).toMatchObject([{ text: 'Notes by Ada' }])
    const argument = { name: 'author', value: 'Ad' }
    const ref = { type: 'ref/resource', uri: 'book://{author}/{title}' } as const
    expect((await client.complete(ref, argument)).completion.values).toEqual(['Ada', 'Adele'])
  })

  test('receives progress, and logs from the requested level', async () => {
    const client = connect()
    const progressed: Progress[] = []
    const logged: LogMessage[] = []
    const onProgress = (progress: Progress): void => void progressed.push(progress)
    const onLog = (message: LogMessage): void => void logged.push(message)
    await client.callTool('count', {}, { onProgress, onLog, logLevel: 'info' })
    expect(progressed).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })))
    expect(logged).toEqual([{ level: 'warning', data: { left: 0 }, logger: 'counter' }])
  })

  test('cancels a call, and the signal of its handler aborts', async () => {
    const client = connect()
    const controller = new AbortController()
    const started = createGate()
    const onProgress = (): void => started.open()
    const call = client.callTool('wait', {}, { signal: controller.signal, onProgress })
    const failure = call.catch((error: unknown) => error)
    await started.opened
    const reason = new Error('the user pressed stop')
    controller.abort(reason)
    expect(await failure).toBe(reason)
    expect(textOf(await client.callTool('stopped'))).toBe('stopped')
  })

  test('distinguishes a tool that failed from one that does not exist', async () => {
    const client = connect()
    expect(await client.callTool('broken', {})).toMatchObject({ isError: true })
    await expect(client.callTool('nothing', {})).rejects.toMatchObject({ code: 'rpc', rpc: { code: -32602 } })
  })

  test('answers the question of a tool and receives the result', async () => {
    const rounds: ClientEvent[] = []
    const client = connect({
      extensions: [
        { extends: 'client', name: 'events', start: () => ({ observe: (event) => void rounds.push(event) }) },
      ],
      elicit: ({ message }) => ({ action: 'accept', content: { city: message === 'Where to?' ? 'Oslo' : 'nowhere' } }),
    })
    expect(textOf(await client.callTool('travel'))).toBe('Off to Oslo')
    expect(rounds.filter(({ type }) => type === 'round')).toMatchObject([
      { status: 'input_required', stateBytes: 'the official state'.length },
      { status: 'complete', stateBytes: 0 },
    ])
  })

  test('returns the question from manualRounds', async () => {
    const client = connect({ capabilities: { elicitation: {} } })
    const round = await client.manualRounds.callTool('travel')
    if (round.status === 'complete') throw new Error('the server asked nothing')
    expect(Object.keys(round.requests)).toEqual(['city'])
    const last = await round.resume({ city: { action: 'accept', content: { city: 'Lima' } } })
    expect(last).toMatchObject({ status: 'complete', result: { content: [{ text: 'Off to Lima' }] } })
  })

  test('subscribes and receives only the requested changes until it closes the stream', async () => {
    const client = connect()
    const filter = { toolsListChanged: true, resourceSubscriptions: ['test://one'] }
    const received: SubscriptionEvent[] = []
    for await (const event of client.listen(filter)) {
      received.push(event)
      if (event.type === 'opened') await client.callTool('change')
      if (received.length === 3) break
    }
    expect(received[0]).toEqual({ type: 'opened', notifications: filter, mayHaveMissedChanges: false })
    const changes = [{ type: 'toolsListChanged' }, { type: 'resourceUpdated', uri: 'test://one' }]
    expect(received.slice(1)).toEqual(expect.arrayContaining(changes))
    expect(textOf(await client.callTool('greet', { name: 'Ada' }))).toBe('Hello, Ada!')
  })
})
