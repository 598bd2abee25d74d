import { type Client, createClient } from '@x/client'
import { compileJsonSchema } from '@x/schema/json-schema'
import { connectHttp } from '@x/transport-http/client'
import { answerParent } from '../answer-parent.ts'
import { type HonestClient, startHonestClient } from '../honest-client.ts'
import { limits, type Operation, type Use, type Used } from './operations.ts'

const operations: Readonly<Record<Operation, (client: Client) => Promise<unknown>>> = {
  alteredList: alterList,
  callTool: (client) => client.callTool('hostile'),
  // The tool's schemas are looked up first, and its result is checked against them.
  checkedCall: (client) => client.listTools().then(() => client.callTool('hostile', { text: 'x' })),
  discover: (client) => client.discover(),
  getPrompt: (client) => client.getPrompt('hostile'),
  listTools: (client) => client.listTools(),
  listen: takeEvents,
  readResource: (client) => client.readResource('file:///hostile'),
}

let honest: HonestClient | undefined
answerParent({
  use,
  startHonest: ({ url }: { readonly url: string }) => {
    honest = startHonestClient(url)
  },
  stopHonest: () => honest?.stop(),
})

/** Uses a client of default options on a server, but for shorter times. */
async function use({ operation, url }: Use): Promise<Used> {
  let warnings = 0
  await using connection = connectHttp(url, { retry: false })
  const client = createClient(connection, {
    name: 'target',
    version: '1.0.0',
    maxResendMs: 200,
    ...limits,
    // A client that checks results asks for the tool's schemas first, which the other attacks do not answer.
    ...(operation === 'checkedCall' && { outputSchemaCompiler: compileJsonSchema }),
    elicit: ({ requestedSchema }) => ({
      action: 'accept',
      content: Object.fromEntries(Object.keys(requestedSchema.properties).map((name) => [name, 'x'])),
    }),
    onWarning: () => (warnings += 1),
  })
  try {
    await operations[operation](client)
    return { warnings }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return { error: code, warnings }
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
