import { type Client, createClient, isClientError } from '@x/client'
import { type Connection, createCall } from '@x/exchange'
import type { CallToolResult } from '@x/schema'
import { type SessionsClient, sessionsClient } from '@x/sessions/client'
import { type SkillsClient, skillsClient } from '@x/skills/client'
import { type TasksClient, tasksClient } from '@x/tasks/client'
import { expect } from 'vitest'

/** A host in front of a hop. */
export interface Host {
  readonly client: Client & {
    readonly sessions: SessionsClient
    readonly skills: SkillsClient
    readonly tasks: TasksClient
  }
  readonly connection: Connection
  /** The name of the upstream behind a gateway. Empty for a proxy, which renames nothing. */
  readonly upstream: string
}

const pages = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }

/** Creates a host that answers each question. */
export function createHost(connection: Connection, { name: hostName = 'host', upstream = '' } = {}): Host {
  const client = createClient(connection, {
    name: hostName,
    version: '1.0.0',
    extensions: [sessionsClient(), skillsClient(), tasksClient()],
    capabilities: { extensions: pages },
    elicit: ({ message }) => ({ action: 'accept', content: { name: `${hostName} to ${message}` } }),
    sample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: `sampled by ${hostName}` } }),
    roots: () => [{ uri: `file:///${hostName}`, name: 'work' }],
  })
  return { client, connection, upstream }
}

/** Returns the name of a tool as a host of the upstream sees it. */
export function nameAt(upstream: string, tool: string): string {
  return upstream === '' ? tool : `${upstream}__${tool}`
}

/** Returns the text of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A check that one feature crosses a hop. It rejects if the feature does not. */
export type Check = (host: Host) => Promise<void>

/**
 * Repeats an assertion for up to ten seconds. `expect.poll` works only inside tests, and a benchmark runs these checks.
 */
async function retry(assertion: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + 10_000
  for (;;) {
    try {
      return await assertion()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The features that a hop passes between two ends of revision 2026-07-28, each with its check. */
export const checks: Readonly<Record<string, Check>> = {
  discovery: async ({ client }) => {
    const { capabilities, instructions } = await client.discover()
    expect(instructions).toBe('Be kind.')
    expect(capabilities).toMatchObject({
      tools: {},
      prompts: {},
      resources: {},
      extensions: { 'com.example/counting': {} },
    })
    expect(client.serverInfo).toMatchObject({ name: 'features', version: '1.2.3' })
  },
  'pages of lists': async ({ client }) => {
    const names = (await client.listTools()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['sum', 'touch']))
    expect(names.length).toBeGreaterThan(10)
  },
  'structured results': async ({ client }) => {
    expect((await client.callTool('sum', { a: 1, b: 2 })).structuredContent).toEqual({ total: 3 })
  },
  'errors of tools': async ({ client }) => {
    expect(await client.callTool('fail')).toMatchObject({ isError: true, content: [{ text: 'the disk is full' }] })
  },
  'errors with code and data': async ({ client }) => {
    const error = await client.callTool('refuse').catch((reason: unknown) => reason)
    expect(isClientError(error) && error.rpc).toMatchObject({
      code: -31_007,
      message: 'no such moon',
      data: { moon: 'ix' },
    })
  },
  progress: async ({ client }) => {
    const steps: unknown[] = []
    await client.callTool(
      'steps',
      {},
      { onProgress: ({ progress, total, message }) => steps.push([progress, total, message]) },
    )
    expect(steps).toEqual([1, 2, 3].map((step) => [step, 3, `step ${step}`]))
  },
  logs: async ({ client }) => {
    const messages: unknown[] = []
    await client.callTool(
      'steps',
      {},
      { logLevel: 'info', onLog: ({ level, data, logger }) => messages.push([level, data, logger]) },
    )
    expect(messages).toEqual([['warning', { left: 0 }, 'counter']])
  },
  cancellation: async ({ client }) => {
    const before = textOf(await client.callTool('cancelled'))
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal, onProgress: () => controller.abort() })
    await expect(call).rejects.toThrow('abort')
    await retry(async () => expect(textOf(await client.callTool('cancelled'))).not.toBe(before))
  },
  'a question': async ({ client }) => {
    expect(textOf(await client.callTool('ask'))).toBe('host to Who?')
  },
  'questions in turn': async ({ client }) => {
    expect(textOf(await client.callTool('ask-twice'))).toBe(
      'host to Who is first? host to Who follows host to Who is first??',
    )
  },
  sampling: async ({ client }) => {
    expect(textOf(await client.callTool('sample'))).toBe('sampled by host')
  },
  roots: async ({ client }) => {
    expect(textOf(await client.callTool('roots'))).toBe('file:///host')
  },
  'prompts and completion': async ({ client }) => {
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['review'])
    expect(JSON.stringify(await client.getPrompt('review', { language: 'go' }))).toContain('Review this go')
    const ref = { type: 'ref/prompt', name: 'review' } as const
    const { completion } = await client.complete(ref, { name: 'language', value: 'ru' })
    expect(completion.values).toEqual(['ruby', 'rust'])
  },
  resources: async ({ client }) => {
    expect((await client.listResources()).map(({ uri }) => uri)).toContain('note://first')
    expect((await client.readResource('note://first')).contents).toMatchObject([{ text: 'the first note' }])
  },
  'resource templates': async ({ client }) => {
    expect((await client.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual(['note://{id}'])
    expect((await client.readResource('note://7')).contents).toMatchObject([{ text: 'note 7' }])
  },
  'links and embedded resources': async ({ client }) => {
    expect((await client.callTool('links')).content).toMatchObject([
      { type: 'resource_link', uri: 'note://first' },
      { type: 'resource', resource: { uri: 'note://inner', text: 'inner' } },
    ])
  },
  'updates of a resource and a list': async ({ client }) => {
    const expected = new Set(['resourceUpdated', 'toolsListChanged'])
    await using subscription = client.listen({ resourceSubscriptions: ['note://first'], toolsListChanged: true })
    // An older server does not announce when a subscription takes effect, so the change is repeated until it is
    // received.
    const changes = setInterval(() => void client.callTool('touch').catch(() => {}), 100)
    try {
      for await (const { type } of subscription) {
        expected.delete(type)
        if (expected.size === 0) break
      }
    } finally {
      clearInterval(changes)
    }
  },
  'header parameters': async ({ client }) => {
    expect(textOf(await client.callTool('deploy', { region: 'us-west1' }))).toBe('us-west1')
  },
  'trace context and client name': async ({ client }) => {
    expect(textOf(await client.callTool('caller', {}, { meta: { traceparent } }))).toBe(
      JSON.stringify(['host', traceparent]),
    )
  },
  'methods and notifications of extensions': async ({ client, connection }) => {
    const before = await client.request('com.example/count')
    await connection.notify?.({ jsonrpc: '2.0', method: 'com.example/seen' }, createCall())
    const count = async (): Promise<unknown> => (await client.request('com.example/count'))['count']
    await retry(async () => expect(await count()).toBe(Number(before['count']) + 1))
  },
  'caching hints': async ({ connection, client }) => {
    await client.listTools()
    expect(connection.peer?.revision ?? '2026-07-28').toBe('2026-07-28')
    const sent = { jsonrpc: '2.0', id: 1, method: 'resources/read' } as const
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await connection.exchange({ ...sent, params: { uri: 'note://first', _meta } }, createCall())
    expect(response).toMatchObject({ result: { ttlMs: 60_000, cacheScope: 'public' } })
  },
  'sessions of the data layer': async ({ client, upstream }) => {
    await using session = await client.sessions.create()
    await session.callTool(nameAt(upstream, 'put'), { item: 'eggs' })
    expect(textOf(await session.callTool(nameAt(upstream, 'put'), { item: 'bread' }))).toBe('eggs bread')
  },
}
