import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { vi } from 'vitest'
import { equal, type Outcomes, outcomeOf } from '../src/checks.ts'

/** A client of revision 2025-11-25, and the notifications that it received outside its calls. */
interface OlderClient extends AsyncDisposable {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  readonly url: string
  readonly received: readonly string[]
  /** Closes the connections of the running calls. */
  cut(): void
}

const waitOptions = { timeout: 60_000 }

/** The checks of a server with clients of 2025-11-25. In many of them one request affects the stream of another. */
const olderChecks: Readonly<Record<string, (older: OlderClient) => Promise<void>>> = {
  async call({ client }) {
    equal(await textOf(client, 'add', { a: 1, b: 2 }), '3')
  },
  async 'two questions'({ client }) {
    equal(await textOf(client, 'book'), 'Zürich on Monday')
  },
  async progress({ client }) {
    const steps: number[] = []
    const onprogress = ({ progress }: { progress: number }): void => {
      steps.push(progress)
    }
    await client.callTool({ name: 'count' }, undefined, { onprogress })
    equal(steps, [1, 2, 3])
  },
  'cancellation of a call': ({ client }) => cancelCall(client, { progress: false }),
  'cancellation of a stream': ({ client }) => cancelCall(client, { progress: true }),
  async 'resource updates'(older) {
    await older.client.subscribeResource({ uri: 'runtime://value' })
    await untilReceived('runtime://value', older, 'change')
  },
  'list changes': (older) => untilReceived('tools', older, 'change_tools'),
  async 'the end of a session'({ client, transport, url }) {
    const id = crypto.randomUUID()
    client.callTool({ name: 'wait', arguments: { id, progress: true } }).catch(() => {})
    await untilState(client, id, 'running')
    await transport.terminateSession()
    await using other = await connectOlder(url)
    await untilState(other.client, id, 'cancelled')
  },
}

/** A call continues after its connection has closed, and the client resumes the stream. */
const resumedStream: typeof olderChecks = {
  async 'a resumed stream'({ client, cut }) {
    const id = crypto.randomUUID()
    let hasBegun = false
    const onprogress = (): void => {
      hasBegun = true
    }
    const response = client.callTool({ name: 'finish_later', arguments: { id } }, undefined, { onprogress })
    await vi.waitFor(() => equal(hasBegun, true), waitOptions)
    cut()
    await client.callTool({ name: 'finish', arguments: { id } })
    equal((await response)['content'], [{ type: 'text', text: 'finished' }])
  },
}

/** A call ends with its connection. */
const endedStream: typeof olderChecks = {
  async 'a connection that is cut'({ client, url, cut }) {
    const id = crypto.randomUUID()
    client.callTool({ name: 'wait', arguments: { id, progress: true } }).catch(() => {})
    await untilState(client, id, 'running')
    cut()
    await using other = await connectOlder(url)
    await untilState(other.client, id, 'cancelled')
  },
}

/** Runs the checks of the official client of 2025-11-25 against a server. Returns the outcome of each that failed. */
export async function checkOlderClient(url: string, { keepsStreams }: { keepsStreams: boolean }): Promise<Outcomes> {
  const failures: Record<string, string> = {}
  for (const [name, run] of Object.entries({ ...olderChecks, ...(keepsStreams ? resumedStream : endedStream) })) {
    const outcome = await outcomeOf(async () => {
      await using older = await connectOlder(url)
      await run(older)
    })
    if (outcome !== 'passed') failures[name] = outcome
  }
  return failures
}

async function connectOlder(url: string): Promise<OlderClient> {
  let connections = new AbortController()
  const fetchUntilCut = (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (init.method !== 'POST') return fetch(input, init)
    const { signal } = init
    const signals = [connections.signal, ...(signal ? [signal] : [])]
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: fetchUntilCut,
    reconnectionOptions: {
      initialReconnectionDelay: 50,
      maxReconnectionDelay: 50,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 100,
    },
  })
  const received: string[] = []
  const client = new Client({ name: 'older', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: 'accept',
    content: params.message === 'Which day?' ? { day: 'Monday' } : { room: 'Zürich' },
  }))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void received.push(params.uri))
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void received.push('tools'))
  // With exactOptionalPropertyTypes the transport of the SDK is not assignable to its own type.
  await client.connect(transport as Parameters<Client['connect']>[0])
  return {
    client,
    transport,
    url,
    received,
    cut() {
      connections.abort()
      connections = new AbortController()
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** Calls a tool repeatedly until the client receives the notification, because its GET stream may open late. */
async function untilReceived(notification: string, { client, received }: OlderClient, tool: string): Promise<void> {
  await vi.waitFor(async () => {
    await client.callTool({ name: tool })
    equal(received.includes(notification), true)
  }, waitOptions)
}

async function cancelCall(client: Client, { progress }: { readonly progress: boolean }): Promise<void> {
  const id = crypto.randomUUID()
  const controller = new AbortController()
  const call = client.callTool({ name: 'wait', arguments: { id, progress } }, undefined, { signal: controller.signal })
  call.catch(() => {})
  await untilState(client, id, 'running')
  controller.abort('The user cancelled')
  await untilState(client, id, 'cancelled')
}

async function untilState(client: Client, id: string, expected: string): Promise<void> {
  await vi.waitFor(async () => equal(await textOf(client, 'state_of', { id }), expected), waitOptions)
}

async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: args })
  const [first] = content as readonly { readonly text?: string }[]
  return first?.text
}
