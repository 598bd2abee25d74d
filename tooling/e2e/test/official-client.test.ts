import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { metaKeys } from '@x/schema'
import { createServer, resource, resourceTemplate } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { createGate } from '@tooling/vitest/gate'
import { ourServer } from './interop/our-definition.ts'

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/our-server.ts', import.meta.url))
})
afterAll(() => program?.[Symbol.asyncDispose]())

interface OfficialPeer extends AsyncDisposable {
  readonly client: Client
}
type Connect = (client: Client) => Promise<OfficialPeer>

async function overHttp(client: Client): Promise<OfficialPeer> {
  const http = await serveHttp(ourServer())
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
  const dispose = async (): Promise<void> => {
    await client.close()
    await http.close({ graceMs: 0 })
  }
  return { client, [Symbol.asyncDispose]: dispose }
}

async function overStdio(client: Client): Promise<OfficialPeer> {
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program.path] }))
  return { client, [Symbol.asyncDispose]: () => client.close() }
}

function officialClient(options: ClientOptions = {}): Client {
  const modern: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options }
  return new Client({ name: 'official', version: '1.0.0' }, modern)
}

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
] as const)('the official client with our server at 2026-07-28, over %s', (_, connectWith: Connect) => {
  const connect = (options?: ClientOptions): Promise<OfficialPeer> => connectWith(officialClient(options))

  test('connects in the modern era and reads the name of the server', async () => {
    await using peer = await connect()
    expect(peer.client.getProtocolEra()).toBe('modern')
    expect(peer.client.getServerVersion()).toMatchObject({ name: 'ours', version: '1.0.0' })
    expect((await peer.client.discover()).supportedVersions).toContain('2026-07-28')
  })

  test('reads every list over several pages', async () => {
    await using peer = await connect()
    const { tools } = await peer.client.listTools()
    const names = ['greet', 'sum', 'broken', 'deploy', 'count', 'received', 'wait', 'stopped', 'resolve', 'change']
    expect(tools.map(({ name }) => name)).toEqual(names)
    const { prompts } = await peer.client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['review', 'plain', 'third'])
    const { resources } = await peer.client.listResources()
    expect(resources.map(({ name }) => name)).toEqual(['one', 'two', 'three', 'bytes'])
    const { resourceTemplates } = await peer.client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['book://{author}/{title}'])
  })

  test('reads one page if it requests one', async () => {
    await using peer = await connect()
    const { nextCursor } = await peer.client.listTools()
    expect(nextCursor).toBeUndefined()
    const result = await peer.client.request({ method: 'tools/list', params: {} })
    expect(result.tools).toHaveLength(2)
    const cursor = result.nextCursor ?? ''
    expect((await peer.client.request({ method: 'tools/list', params: { cursor } })).tools).toHaveLength(2)
  })

  test('calls tools with text, structured content and a header parameter', async () => {
    await using peer = await connect()
    await peer.client.listTools()
    const greeted = await peer.client.callTool({ name: 'greet', arguments: { name: 'Ζωή 🎈' } })
    expect(greeted.content).toEqual([{ type: 'text', text: 'Hello, Ζωή 🎈!' }])
    const added = await peer.client.callTool({ name: 'sum', arguments: { a: 1, b: 2 } })
    expect(added.structuredContent).toEqual({ total: 3 })
    const deployed = await peer.client.callTool({ name: 'deploy', arguments: { region: 'Zürich' } })
    expect(deployed.content).toEqual([{ type: 'text', text: 'Zürich' }])
  })

  test('gets a prompt and completes its argument', async () => {
    await using peer = await connect()
    const { messages } = await peer.client.getPrompt({ name: 'review', arguments: { language: 'rust' } })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this rust' } }])
    const { completion } = await peer.client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'language', value: 'ru' },
    })
    expect(completion.values).toEqual(['ruby', 'rust'])
  })

  test('reads resources as text, as bytes and by template, and completes the variables of the template', async () => {
    await using peer = await connect()
    expect((await peer.client.readResource({ uri: 'test://two' })).contents).toMatchObject([{ text: 'Text two' }])
    expect((await peer.client.readResource({ uri: 'test://bytes' })).contents).toMatchObject([{ blob: 'AP8K' }])
    const { contents } = await peer.client.readResource({ uri: 'book://Ada/Notes' })
    expect(contents).toMatchObject([{ text: 'Notes by Ada' }])
    const { completion } = await peer.client.complete({
      ref: { type: 'ref/resource', uri: 'book://{author}/{title}' },
      argument: { name: 'author', value: 'Ad' },
    })
    expect(completion.values).toEqual(['Ada', 'Adele'])
  })

  test('receives progress, and logs from the requested level', async () => {
    await using peer = await connect()
    const progressed: unknown[] = []
    const logged: unknown[] = []
    const all = createGate()
    const record = (list: unknown[], message: unknown): void => {
      list.push(message)
      if (progressed.length === 3 && logged.length === 1) all.open()
    }
    const onprogress = (progress: unknown): void => record(progressed, progress)
    peer.client.setNotificationHandler('notifications/message', ({ params }) => record(logged, params))
    const params = { name: 'count', arguments: {}, _meta: { [metaKeys.logLevel]: 'info' } }
    const call = peer.client.callTool(params, { onprogress })
    // The official client loses progress that arrives in one chunk with the response, so the response waits.
    await all.opened
    await peer.client.callTool({ name: 'received', arguments: {} })
    expect((await call).content).toEqual([{ type: 'text', text: 'counted' }])
    expect(progressed).toMatchObject([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })))
    expect(logged).toMatchObject([{ level: 'warning', data: { left: 0 }, logger: 'counter' }])
  })

  test('cancels a call, and the signal of its handler aborts', async () => {
    await using peer = await connect()
    const controller = new AbortController()
    const started = createGate()
    const onprogress = (): void => started.open()
    const call = peer.client.callTool({ name: 'wait', arguments: {} }, { signal: controller.signal, onprogress })
    const failure = call.catch((error: unknown) => error)
    await started.opened
    controller.abort(new Error('the user pressed stop'))
    expect(await failure).toBeInstanceOf(Error)
    expect((await peer.client.callTool({ name: 'stopped', arguments: {} })).content).toMatchObject([
      { text: 'stopped' },
    ])
  })

  test('distinguishes a tool that failed from one that does not exist', async () => {
    await using peer = await connect()
    expect(await peer.client.callTool({ name: 'broken', arguments: {} })).toMatchObject({ isError: true })
    await expect(peer.client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    await expect(peer.client.readResource({ uri: 'test://none' })).rejects.toMatchObject({ code: -32602 })
  })

  test('answers both questions of a tool and receives the result', async () => {
    await using peer = await connect({ capabilities: { elicitation: { form: {} } } })
    const asked: string[] = []
    peer.client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: asked.length === 1 ? { resolution: 'Duplicate' } : { original: 17 } }
    })
    const result = await peer.client.callTool({ name: 'resolve', arguments: { id: 4522 } })
    expect(result.content).toEqual([{ type: 'text', text: '#4522 duplicates #17 (save 1)' }])
    expect(asked).toEqual(['How was #4522 resolved?', 'Of which item?'])
  })

  test('declines a question and receives no further one', async () => {
    await using peer = await connect({ capabilities: { elicitation: { form: {} } } })
    let asked = 0
    peer.client.setRequestHandler('elicitation/create', () => {
      asked += 1
      return { action: 'decline' }
    })
    expect(await peer.client.callTool({ name: 'resolve', arguments: { id: 1 } })).toMatchObject({ isError: true })
    expect(asked).toBe(1)
  })
  test('subscribes and receives only the requested changes until it closes the stream', async () => {
    await using peer = await connect()
    const received: unknown[] = []
    const [listChanged, updated] = [createGate(), createGate()]
    peer.client.setNotificationHandler('notifications/tools/list_changed', () => listChanged.open())
    peer.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      received.push(params.uri)
      updated.open()
    })
    const filter = { toolsListChanged: true, resourceSubscriptions: ['test://one', 'test://none'] }
    const subscription = await peer.client.listen(filter)
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['test://one'] })
    await peer.client.callTool({ name: 'change', arguments: {} })
    await Promise.all([listChanged.opened, updated.opened])
    expect(received).toEqual(['test://one'])
    await subscription.close()
    expect(await subscription.closed).toBe('local')
    expect((await peer.client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).content).toHaveLength(1)
  })
})

test('the official client reads static resources and those of a template on one page', async () => {
  const read = () => 'text'
  let requestCount = 0
  const server = createServer({
    name: 'ours',
    version: '1.0.0',
    state: false,
    use: [
      (next) => (request, call) => {
        if (request.method === 'resources/list') requestCount++
        return next(request, call)
      },
    ],
    resources: ['one', 'two'].map((name) => resource(`text://${name}`, { name, read })),
    resourceTemplates: [
      resourceTemplate('note://{day}', {
        name: 'Note',
        list: () => ['monday', 'tuesday'].map((name) => ({ uri: `note://${name}`, name })),
        read,
      }),
    ],
  })
  await using http = await serveHttp(server)
  const client = officialClient()
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
  const { resources } = await client.listResources()
  await client.close()
  expect([resources.map(({ name }) => name), requestCount]).toEqual([['one', 'two', 'monday', 'tuesday'], 1])
})
