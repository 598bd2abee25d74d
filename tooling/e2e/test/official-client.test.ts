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

/** Connects a client to a server of its own. Resolves to what closes both. */
type Connect = (client: Client) => Promise<() => Promise<void>>

async function overHttp(client: Client): Promise<() => Promise<void>> {
  const http = await serveHttp(ourServer())
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
  return async () => {
    await client.close()
    await http.close({ graceMs: 0 })
  }
}

async function overStdio(client: Client): Promise<() => Promise<void>> {
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program.path] }))
  return () => client.close()
}

function officialClient(options: ClientOptions = {}): Client {
  const modern: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options }
  return new Client({ name: 'official', version: '1.0.0' }, modern)
}

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
] as const)('the official client with our server at 2026-07-28, over %s', (_, connectWith: Connect) => {
  const client = officialClient({ capabilities: { elicitation: { form: {} } } })
  let close = async (): Promise<void> => {}
  beforeAll(async () => {
    close = await connectWith(client)
  })
  afterAll(() => close())

  test('connects in the modern era and reads the name of the server', async () => {
    expect(client.getProtocolEra()).toBe('modern')
    expect(client.getServerVersion()).toMatchObject({ name: 'ours', version: '1.0.0' })
    expect((await client.discover()).supportedVersions).toContain('2026-07-28')
  })

  test('reads every list over several pages', async () => {
    const { tools } = await client.listTools()
    const names = ['greet', 'sum', 'broken', 'deploy', 'count', 'received', 'wait', 'stopped', 'resolve', 'change']
    expect(tools.map(({ name }) => name)).toEqual(names)
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['review', 'plain', 'third'])
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toEqual(['one', 'two', 'three', 'bytes'])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['book://{author}/{title}'])
  })

  test('reads one page if it requests one', async () => {
    const { nextCursor } = await client.listTools()
    expect(nextCursor).toBeUndefined()
    const result = await client.request({ method: 'tools/list', params: {} })
    expect(result.tools).toHaveLength(2)
    const cursor = result.nextCursor ?? ''
    expect((await client.request({ method: 'tools/list', params: { cursor } })).tools).toHaveLength(2)
  })

  test('calls tools with text, structured content and a header parameter', async () => {
    await client.listTools()
    const greeted = await client.callTool({ name: 'greet', arguments: { name: 'Ζωή 🎈' } })
    expect(greeted.content).toEqual([{ type: 'text', text: 'Hello, Ζωή 🎈!' }])
    const added = await client.callTool({ name: 'sum', arguments: { a: 1, b: 2 } })
    expect(added.structuredContent).toEqual({ total: 3 })
    const deployed = await client.callTool({ name: 'deploy', arguments: { region: 'Zürich' } })
    expect(deployed.content).toEqual([{ type: 'text', text: 'Zürich' }])
  })

  test('gets a prompt and completes its argument', async () => {
    const { messages } = await client.getPrompt({ name: 'review', arguments: { language: 'rust' } })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this rust' } }])
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'language', value: 'ru' },
    })
    expect(completion.values).toEqual(['ruby', 'rust'])
  })

  test('reads resources as text, as bytes and by template, and completes the variables of the template', async () => {
    expect((await client.readResource({ uri: 'test://two' })).contents).toMatchObject([{ text: 'Text two' }])
    expect((await client.readResource({ uri: 'test://bytes' })).contents).toMatchObject([{ blob: 'AP8K' }])
    const { contents } = await client.readResource({ uri: 'book://Ada/Notes' })
    expect(contents).toMatchObject([{ text: 'Notes by Ada' }])
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'book://{author}/{title}' },
      argument: { name: 'author', value: 'Ad' },
    })
    expect(completion.values).toEqual(['Ada', 'Adele'])
  })

  test('receives progress, and logs from the requested level', async () => {
    const progressed: unknown[] = []
    const logged: unknown[] = []
    const all = createGate()
    const record = (list: unknown[], message: unknown): void => {
      list.push(message)
      if (progressed.length === 3 && logged.length === 1) all.open()
    }
    const onprogress = (progress: unknown): void => record(progressed, progress)
    client.setNotificationHandler('notifications/message', ({ params }) => record(logged, params))
    const params = { name: 'count', arguments: {}, _meta: { [metaKeys.logLevel]: 'info' } }
    const call = client.callTool(params, { onprogress })
    // The official client loses progress that arrives in one chunk with the response, so the response waits.
    await all.opened
    await client.callTool({ name: 'received', arguments: {} })
    expect((await call).content).toEqual([{ type: 'text', text: 'counted' }])
    expect(progressed).toMatchObject([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })))
    expect(logged).toMatchObject([{ level: 'warning', data: { left: 0 }, logger: 'counter' }])
  })

  test('cancels a call, and the signal of its handler aborts', async () => {
    const controller = new AbortController()
    const started = createGate()
    const onprogress = (): void => started.open()
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: controller.signal, onprogress })
    const failure = call.catch((error: unknown) => error)
    await started.opened
    controller.abort(new Error('the user pressed stop'))
    expect(await failure).toBeInstanceOf(Error)
    expect((await client.callTool({ name: 'stopped', arguments: {} })).content).toMatchObject([{ text: 'stopped' }])
  })

  test('distinguishes a tool that failed from one that does not exist', async () => {
    expect(await client.callTool({ name: 'broken', arguments: {} })).toMatchObject({ isError: true })
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri: 'test://none' })).rejects.toMatchObject({ code: -32602 })
  })

  test('answers both questions of a tool and receives the result', async () => {
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: asked.length === 1 ? { resolution: 'Duplicate' } : { original: 17 } }
    })
    const result = await client.callTool({ name: 'resolve', arguments: { id: 4522 } })
    expect(result.content).toEqual([{ type: 'text', text: '#4522 duplicates #17 (save 1)' }])
    expect(asked).toEqual(['How was #4522 resolved?', 'Of which item?'])
  })

  test('declines a question and receives no further one', async () => {
    let asked = 0
    client.setRequestHandler('elicitation/create', () => {
      asked += 1
      return { action: 'decline' }
    })
    expect(await client.callTool({ name: 'resolve', arguments: { id: 1 } })).toMatchObject({ isError: true })
    expect(asked).toBe(1)
  })

  test('subscribes and receives only the requested changes until it closes the stream', async () => {
    const received: unknown[] = []
    const [listChanged, updated] = [createGate(), createGate()]
    client.setNotificationHandler('notifications/tools/list_changed', () => listChanged.open())
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      received.push(params.uri)
      updated.open()
    })
    const filter = { toolsListChanged: true, resourceSubscriptions: ['test://one', 'test://none'] }
    const subscription = await client.listen(filter)
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['test://one'] })
    await client.callTool({ name: 'change', arguments: {} })
    await Promise.all([listChanged.opened, updated.opened])
    expect(received).toEqual(['test://one'])
    await subscription.close()
    expect(await subscription.closed).toBe('local')
    expect((await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).content).toHaveLength(1)
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
