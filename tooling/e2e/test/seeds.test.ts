import { legacy } from '@x/legacy'
import { createCall } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { createServer, type McpServer, type ServerDefinition, tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { httpHandler } from '@x/transport-http'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keys, stateWith } from './asking.ts'

const resolution = z.object({
  resolution: z
    .enum(['Fixed', "Won't Fix", 'Duplicate', 'By Design'])
    .meta({ description: 'Resolution type for this bug' }),
})
const originalBug = z.object({ duplicateOfId: z.number().meta({ description: 'Work item ID of the original bug' }) })
const firstQuestion = 'Resolving Bug #4522 requires a resolution. How was this bug resolved?'
const secondQuestion = 'Since this is a duplicate, which work item is the original?'
const resolved = 'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.'
const update = {
  name: 'update_work_item',
  arguments: { workItemId: 4522, fields: { 'System.State': 'Resolved' } },
}

/** Creates the tool of both documents, with two rules of Azure DevOps and one update. */
function updateWorkItem(updates: string[], task?: 'required') {
  return tool('update_work_item', {
    description: 'Updates a work item',
    task,
    input: z.object({ workItemId: z.int(), fields: z.record(z.string(), z.string()) }),
    run: async ({ workItemId: id }, ctx) => {
      const message = `Resolving Bug #${id} requires a resolution. How was this bug resolved?`
      const reason = await ctx.elicit('resolution', { message, schema: resolution })
      if (reason.resolution !== 'Duplicate') return `Bug #${id} resolved as ${reason.resolution}.`
      const { duplicateOfId } = await ctx.elicit('duplicate_of', { message: secondQuestion, schema: originalBug })
      const text = `Bug #${id} resolved as Duplicate of Bug #${duplicateOfId}.`
      await ctx.step('update', () => void updates.push(text))
      return `${text} State set to Resolved and duplicate link created.`
    },
  })
}

function createInstance(definition: Pick<ServerDefinition, 'tools' | 'shedding' | 'extensions'>): McpServer {
  return createServer({
    name: 'seeds',
    version: '1.0.0',
    state: stateWith(keys.first),
    strictReplay: false,
    ...definition,
  })
}

let lastId = 0

/** Sends a request with a new id and returns its result. */
async function send(
  server: McpServer,
  method: string,
  params: JsonObject,
  capabilities: JsonObject = { elicitation: { form: {} } },
): Promise<JsonObject> {
  lastId += 1
  const meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: capabilities }
  const _meta = { ...meta, ...(isJsonObject(params['_meta']) ? params['_meta'] : {}) }
  const response = await server.exchange(
    { jsonrpc: '2.0', id: lastId, method, params: { ...params, _meta } },
    createCall({}),
  )
  if ('error' in response) throw new Error(JSON.stringify(response.error))
  expect(response.id).toBe(lastId)
  return response.result
}

const accepted = (content: JsonObject): JsonObject => ({ action: 'accept', content })
const textIn = ({ content }: JsonObject): unknown => JSON.stringify(content)

describe('SEP-2322, message by message', () => {
  test('the work-item example: each round is a separate request to another instance', async () => {
    const updates: string[] = []
    const instances = [1, 2, 3].map(() => createInstance({ tools: [updateWorkItem(updates)] }))
    const [first, second, third] = instances as [McpServer, McpServer, McpServer]
    const one = await send(first, 'tools/call', update)
    expect(one).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        resolution: {
          method: 'elicitation/create',
          params: {
            message: firstQuestion,
            requestedSchema: {
              type: 'object',
              properties: {
                resolution: { enum: ['Fixed', "Won't Fix", 'Duplicate', 'By Design'], description: expect.any(String) },
              },
              required: ['resolution'],
            },
          },
        },
      },
      requestState: expect.any(String),
    })
    const answered = { inputResponses: { resolution: accepted({ resolution: 'Duplicate' }) } }
    const two = await send(second, 'tools/call', { ...update, ...answered, requestState: one['requestState'] })
    expect(two).toMatchObject({
      resultType: 'input_required',
      inputRequests: { duplicate_of: { method: 'elicitation/create', params: { message: secondQuestion } } },
    })
    expect(Object.keys(two['inputRequests'] ?? {})).toEqual(['duplicate_of'])
    const last = { inputResponses: { duplicate_of: accepted({ duplicateOfId: 4301 }) } }
    const three = await send(third, 'tools/call', { ...update, ...last, requestState: two['requestState'] })
    expect(three).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: resolved }] })
    expect(updates).toHaveLength(1)
  })

  test('use case 1, a rolling upgrade: the new version asks only for missing answers', async () => {
    const login = (at: string) => ({ message: `Your name at ${at}?`, schema: z.object({ login: z.string() }) })
    const before = createInstance({
      tools: [
        tool('join', {
          description: 'Asks for two logins',
          run: async (_, ctx) =>
            JSON.stringify(
              await Promise.all([
                ctx.elicit('github_login', login('GitHub')),
                ctx.elicit('google_login', login('Google')),
              ]),
            ),
        }),
      ],
    })
    const after = createInstance({
      tools: [
        tool('join', {
          description: 'Asks for two logins, one of them new',
          run: async (_, ctx) => {
            const [github, microsoft] = await Promise.all([
              ctx.elicit('github_login', login('GitHub')),
              ctx.elicit('microsoft_login', login('Microsoft')),
            ])
            return `${github.login}, ${microsoft.login}`
          },
        }),
      ],
    })
    const call = { name: 'join', arguments: {} }
    const one = await send(before, 'tools/call', call)
    expect(Object.keys(one['inputRequests'] ?? {}).toSorted()).toEqual(['github_login', 'google_login'])
    const both = { github_login: accepted({ login: 'ada' }), google_login: accepted({ login: 'ada.l' }) }
    const two = await send(after, 'tools/call', { ...call, inputResponses: both, requestState: one['requestState'] })
    expect(Object.keys(two['inputRequests'] ?? {})).toEqual(['microsoft_login'])
    expect(two['requestState']).toEqual(expect.any(String))
    const inputResponses = { microsoft_login: accepted({ login: 'ada@x' }) }
    const three = await send(after, 'tools/call', { ...call, inputResponses, requestState: two['requestState'] })
    expect(textIn(three)).toContain('ada, ada@x')
  })

  test('use case 2, load shedding: state without questions carries results of steps to another instance', async () => {
    const computed: string[] = []
    const compute = (name: string) =>
      tool('compute', {
        description: 'Computes in steps',
        run: async (_, ctx) => {
          for (const step of [1, 2, 3]) await ctx.step(`step/${step}`, () => void computed.push(`${name}${step}`))
          return 'computed'
        },
      })
    // Each call is shed once, at its first opportunity.
    const shedding = sheddingSettings({ calls: 'all', minWorkMs: 0, policy: (_, { shedCount }) => shedCount === 0 })
    const [busy, idle] = [
      createInstance({ tools: [compute('a')], shedding }),
      createInstance({ tools: [compute('b')], shedding }),
    ]
    const call = { name: 'compute', arguments: {} }
    const one = await send(busy, 'tools/call', call)
    expect([one['resultType'], one['inputRequests']]).toEqual(['input_required', undefined])
    const two = await send(idle, 'tools/call', { ...call, requestState: one['requestState'] })
    expect(textIn(two)).toContain('computed')
    expect(computed.map((step) => step.slice(1))).toEqual(['1', '2', '3'])
    expect(new Set(computed.map((step) => step[0])).has('b')).toBe(true)
  })

  test('the persistent workflow: a task that asks, tasks/result, tasks/input_response, and its result [PWF-001 PWF-002]', async () => {
    const updates: string[] = []
    const extensions = [tasks({ store: memoryEngine(), persistentWorkflow: true })]
    await using server = createInstance({ tools: [updateWorkItem(updates, 'required')], extensions })
    const ask = (method: string, params: JsonObject): Promise<JsonObject> => send(server, method, params)
    const related = { 'io.modelcontextprotocol/related-task': { taskId: expect.any(String) } }
    const created = await ask('tools/call', { ...update, task: { ttl: 60_000 } })
    expect(created['resultType']).toBe('task')
    const { taskId } = created
    const statusOf = async (): Promise<unknown> => (await ask('tasks/get', { taskId }))['status']
    await expect.poll(statusOf).toBe('input_required')
    const asked = await ask('tasks/result', { taskId })
    expect(asked['inputRequests']).toMatchObject({ resolution: { params: { message: firstQuestion } } })
    expect(asked['_meta']).toMatchObject(related)
    const inputResponses = { resolution: accepted({ resolution: 'By Design' }) }
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId } }
    const acknowledged = await ask('tasks/input_response', { inputResponses, _meta })
    expect(acknowledged['inputRequests']).toBeUndefined()
    expect(acknowledged['_meta']).toMatchObject(related)
    expect(textIn(await ask('tasks/result', { taskId }))).toContain('resolved as By Design')
  })
})

/** Reads the messages of an event stream with the ids of their events. */
async function* messagesOf(response: Response): AsyncGenerator<{ readonly id: string; readonly message: JsonObject }> {
  const decoder = new TextDecoder()
  let buffer = ''
  for await (const bytes of response.body ?? []) {
    buffer += decoder.decode(bytes, { stream: true })
    const events = buffer.split('\n\n')
    buffer = events.pop() ?? ''
    for (const event of events) {
      const fields = new Map(
        event.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(': ') + 2)]),
      )
      const data = fields.get('data') ?? ''
      if (data !== '') yield { id: fields.get('id') ?? '', message: JSON.parse(data) as JsonObject }
    }
  }
}

describe('SEP-1685, message by message', () => {
  test('the work-item example: each message reaches another instance, and nothing is stored [LEG-102 STA-001 STA-002]', async () => {
    const updates: string[] = []
    const start = () =>
      httpHandler(createInstance({ tools: [updateWorkItem(updates)], extensions: [legacy({ questionState: true })] }))
    const session: { id?: string } = {}
    const request = (method: string, body: JsonObject | undefined, more: Record<string, string> = {}): Request => {
      const headers = {
        host: 'localhost',
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session.id !== undefined && { 'mcp-session-id': session.id, 'mcp-protocol-version': '2025-11-25' }),
        ...more,
      }
      return new Request('http://localhost/mcp', { method, headers, ...(body && { body: JSON.stringify(body) }) })
    }
    const next = async (response: Response) => {
      const { value } = await messagesOf(response).next()
      if (value === undefined) throw new Error(`no message with status ${response.status}`)
      return value
    }
    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: {}, experimental: { requestState: {} } },
        clientInfo: { name: 'seed', version: '1.0.0' },
      },
    }
    session.id = (await start()(request('POST', initialize))).headers.get('mcp-session-id') ?? ''
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: update }
    const one = await next(await start()(request('POST', call)))
    expect(one.message).toMatchObject({
      method: 'elicitation/create',
      state: expect.any(String),
      params: { message: firstQuestion, requestedSchema: { required: ['resolution'] } },
    })
    // The answer reaches an instance that has not seen the call. Its stream is resumed there.
    const second = start()
    const { id, state } = one.message
    const duplicate = { jsonrpc: '2.0', id, state, result: accepted({ resolution: 'Duplicate' }) }
    expect((await second(request('POST', duplicate as JsonObject))).status).toBe(202)
    const two = await next(await second(request('GET', undefined, { 'last-event-id': one.id })))
    expect(two.message).toMatchObject({
      method: 'elicitation/create',
      state: expect.any(String),
      params: { message: secondQuestion, requestedSchema: { required: ['duplicateOfId'] } },
    })
    const third = start()
    const original = { jsonrpc: '2.0', id: two.message['id'], state: two.message['state'] }
    const answer = { ...original, result: accepted({ duplicateOfId: 4301 }) }
    expect((await third(request('POST', answer as JsonObject))).status).toBe(202)
    const done = await next(await third(request('GET', undefined, { 'last-event-id': two.id })))
    expect(done.message).toEqual({ jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: resolved }] } })
    expect(updates).toHaveLength(1)
  })
})
