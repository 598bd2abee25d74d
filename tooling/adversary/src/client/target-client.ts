import { oauth } from '@x/auth/client'
import { type Client, createClient } from '@x/client'
import { createCall, type Middleware } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { connectHttp } from '@x/transport-http/client'
import { answerParent } from '../answer-parent.ts'
import { type HonestClient, startHonestClient } from '../honest-client.ts'
import { limits, type Operation, callCount, type Use, type Used } from './operations.ts'
import { callback } from './step-up-server.ts'

const operations: Readonly<Record<Operation, (client: Client) => Promise<unknown>>> = {
  abortedCall: (client) => client.callTool('hostile', {}, { signal: AbortSignal.timeout(limits.timeoutMs) }),
  alteredList: alterList,
  callTool: (client) => client.callTool('hostile'),
  // The tool's schemas are looked up first, and its result is checked against them.
  checkedCall: (client) => client.listTools().then(() => client.callTool('hostile', { text: 'x' })),
  checkedCalls: (client) => client.listTools().then(() => callTools(client, () => 'hostile')),
  discover: (client) => client.discover(),
  getPrompt: (client) => client.getPrompt('hostile'),
  listTools: (client) => client.listTools(),
  listen: takeEvents,
  openUrl: (client) => client.callTool('hostile'),
  readResource: (client) => client.readResource('file:///hostile'),
  stepUps: (client) => callTools(client, (count) => `tool-${count}`),
}

let honest: HonestClient | undefined
answerParent({
  use,
  startHonest: ({ url }: { readonly url: string }) => {
    honest = startHonestClient(url)
  },
  stopHonest: () => honest?.stop(),
})

/** Milliseconds after which a request ends despite progress, in place of ten times the client's `timeoutMs`. */
const maxRequestMs = 1000

// The signals of `AbortSignal.timeout` and `AbortSignal.any` would stay in memory after their request, and be measured.
const endEarly: Middleware = (next) => async (request, call) => {
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

/** Uses a client of default options on a server, but for shorter times. */
async function use({ operation, url }: Use): Promise<Used> {
  let warnings = 0
  const openedUrls: string[] = []
  const auth = operation === 'stepUps' ? createLogin() : undefined
  await using connection = connectHttp(url, { retry: false, auth })
  const client = createClient(connection, {
    name: 'target',
    version: '1.0.0',
    maxResendMs: 200,
    use: [endEarly],
    ...limits,
    // A client that checks results asks for the tool's schemas first, which the other attacks do not answer.
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

/** Listens for as long as a call may last, without reading faster than events come. */
async function takeEvents(client: Client): Promise<void> {
  const signal = AbortSignal.timeout(limits.timeoutMs)
  const subscription = client.listen({ toolsListChanged: true }, { signal, reopen: { pauseMs: 100, attempts: 3 } })
  for await (const event of subscription) if (event.type === 'interrupted') await subscription.close()
}

/** Alters what one caller got from the cache, and throws when the next one gets it altered. */
async function alterList(client: Client): Promise<void> {
  const [first] = await client.listTools()
  if (first === undefined) throw new Error('a tool is listed')
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

/** A person who agrees to every login. */
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
