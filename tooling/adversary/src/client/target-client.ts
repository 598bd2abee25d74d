import { oauth } from '@x/auth/client'
import { type Client, createClient } from '@x/client'
import { createCall, type Middleware } from '@x/exchange'
import { compileJsonSchema } from '@x/schema/json-schema'
import { connectHttp } from '@x/transport-http/client'
import { answerParent } from '../answer-parent.ts'
import { type HonestClient, startHonestClient } from '../honest-client.ts'
import {
  limits,
  type Operation,
  callCount,
  type OperationRequest,
  type OperationOutcome,
  servedTimeoutMs,
} from './operations.ts'
import { callback } from './step-up-server.ts'

const operations: Readonly<Record<Operation, (client: Client) => Promise<unknown>>> = {
  abortedCall: (client) => client.callTool('hostile', {}, { signal: AbortSignal.timeout(limits.timeoutMs) }),
  alteredList: alterList,
  callTool: (client) => client.callTool('hostile'),
  // The client reads the schemas of the tool first, and validates the result against them.
  checkedCall: (client) => client.listTools().then(() => client.callTool('hostile', { text: 'x' })),
  checkedCalls: (client) => client.listTools().then(() => callTools(client, () => 'hostile')),
  discover: (client) => client.discover(),
  getPrompt: (client) => client.getPrompt('hostile'),
  listTools: (client) => client.listTools(),
  listen: readEvents,
  openUrl: (client) => client.callTool('hostile'),
  readResource: (client) => client.readResource('file:///hostile'),
  stepUps: (client) => callTools(client, (count) => `tool-${count}`),
}

let honest: HonestClient | undefined
answerParent({
  runOperation,
  startHonest: ({ url }: { readonly url: string }) => {
    honest = startHonestClient(url)
  },
  stopHonest: () => honest?.stop(),
})

/** The limit in milliseconds of a request with progress. The default is ten times the `timeoutMs` of the client. */
const maxRequestMs = 1000

// The signals of `AbortSignal.timeout` and `AbortSignal.any` would stay in memory after the request and distort its
// size.
const limitRequestTime: Middleware = (next) => async (request, call) => {
  const controller = new AbortController()
  const end = (): void => controller.abort(call.signal.reason)
  const timer = setTimeout(end, maxRequestMs)
  call.signal.addEventListener('abort', end)
  try {
    return await next(request, createCall({ context: call.context, notify: call.notify, signal: controller.signal }))
  } finally {
    clearTimeout(timer)
    call.signal.removeEventListener('abort', end)
  }
}

/** Runs an operation with a client that has default options, except for shorter times. */
async function runOperation({ operation, url, isServed = false }: OperationRequest): Promise<OperationOutcome> {
  let warnings = 0
  const openedUrls: string[] = []
  const auth = operation === 'stepUps' ? createLogin() : undefined
  await using connection = connectHttp(url, { retry: false, auth })
  const client = createClient(connection, {
    name: 'target',
    version: '1.0.0',
    maxResendMs: 200,
    use: isServed ? [] : [limitRequestTime],
    ...limits,
    ...(isServed && { timeoutMs: servedTimeoutMs }),
    // A client that validates results requests the schemas first. Other attacks do not respond to that request.
    ...(operation.startsWith('checkedCall') && { outputSchemaCompiler: compileJsonSchema }),
    openUrl: (question) => {
      openedUrls.push(question.url)
      return { action: 'accept' }
    },
    elicit: ({ requestedSchema }) => ({
      action: 'accept',
      content: Object.fromEntries(Object.keys(requestedSchema.properties).map((name) => [name, 'x'])),
    }),
    log: () => (warnings += 1),
  })
  try {
    await operations[operation](client)
    return { warnings, openedUrls }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return { error: code, warnings, openedUrls }
  }
}

/** Listens until the timeout of a call, and closes the subscription when it is interrupted. */
async function readEvents(client: Client): Promise<void> {
  const signal = AbortSignal.timeout(limits.timeoutMs)
  const subscription = client.listen({ toolsListChanged: true }, { signal, reopen: { pauseMs: 100, attempts: 3 } })
  for await (const event of subscription) if (event.type === 'interrupted') await subscription.close()
}

/** Alters a list from the cache, and throws if the next caller receives the altered list. */
async function alterList(client: Client): Promise<void> {
  const [first] = await client.listTools()
  if (first === undefined) throw new Error('the list has no tool')
  Reflect.set(first, 'name', 'altered')
  Reflect.set(first.inputSchema, 'type', 'altered')
  const [again] = await client.listTools()
  if (again?.name !== 'hostile' || again.inputSchema.type !== 'object') throw new Error('a cached list was altered')
}

/** Calls tools one after the other, and continues after an error. */
async function callTools(client: Client, nameOf: (count: number) => string): Promise<void> {
  for (let count = 0; count < callCount; count += 1)
    await client.callTool(nameOf(count), { text: 'x' }).catch(() => undefined)
}

/** Creates a login with a user that accepts every authorization. */
function createLogin(): ReturnType<typeof oauth> {
  const visit = async (url: URL): Promise<URL> => {
    const { headers } = await fetch(url, { redirect: 'manual' })
    return new URL(headers.get('location') ?? '')
  }
  return oauth({
    client: { name: 'target' },
    redirect: { applicationType: 'native', open: async () => ({ uri: callback, visit, close: async () => {} }) },
  })
}
