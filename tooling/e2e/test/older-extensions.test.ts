import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SKILLS_EXTENSION_ID, SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { skillEntry } from '@modelcontextprotocol/server/ext/skills'
import { legacy } from '@x/legacy'
import type { ServerExtension } from '@x/exchange'
import { isJsonObject } from '@x/schema'
import { createServer, resource, tool } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { keys, stateWith } from './asking.ts'

const uiExtension = 'io.modelcontextprotocol/ui'
const page = 'ui://chart/page.html'
const manifest = '---\nname: charts\ndescription: Draws charts\n---\nUse the tool `chart`.\n'
const cached = { ttlMs: 60_000, cacheScope: 'public' } as const

/** Creates the Skills extension (SEP-2640) with one skill. */
async function skillsExtension(): Promise<ServerExtension<'skills', object>> {
  const entry: unknown = await skillEntry('charts', { 'SKILL.md': manifest })
  if (!isJsonObject(entry)) throw new Error('The entry is no JSON')
  return {
    extends: 'server',
    name: 'skills',
    identifier: SKILLS_EXTENSION_ID,
    capabilities: {},
    start: () => ({
      api: {},
      methods: {
        'skills/list': () => ({ skills: [entry], ...cached }),
        'skills/get': () => ({ skill: entry, ...cached }),
      },
    }),
  }
}

/** Serves skills, an app, and an extension that receives a notification of a client. */
async function serveExtensions(): Promise<{ readonly http: HttpServer; readonly received: readonly string[] }> {
  const received: string[] = []
  const notes: ServerExtension<'notes', object> = {
    extends: 'server',
    name: 'notes',
    identifier: 'com.example/notes',
    notifications: ['com.example/seen'],
    start: () => ({ api: {}, receive: ({ method }) => void received.push(method) }),
  }
  const chart = tool('chart', {
    description: 'Draws a chart as a page if the host supports pages',
    meta: { ui: { resourceUri: page } },
    run: (_, ctx) => (ctx.can(uiExtension) ? 'as a page' : 'as text'),
  })
  const server = createServer({
    name: 'extended',
    version: '1.0.0',
    state: stateWith(keys.first),
    tools: [chart],
    resources: [
      resource(page, { name: 'Chart', mimeType: 'text/html;profile=mcp-app', read: () => '<!doctype html>' }),
      resource('skill://charts/SKILL.md', { name: 'charts', mimeType: 'text/markdown', read: () => manifest }),
    ],
    extensions: [await skillsExtension(), notes, legacy()],
  })
  return { http: await serveHttp(server), received }
}

type ClientCapabilities = NonNullable<NonNullable<ConstructorParameters<typeof Client>[1]>['capabilities']>

async function connect(url: string, extensions?: ClientCapabilities['extensions']): Promise<Client> {
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    { versionNegotiation: { mode: 'legacy' }, capabilities: extensions === undefined ? {} : { extensions } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

test.each([
  ['declares the extension', { [SKILLS_EXTENSION_ID]: {} }],
  ['declares none, because the helper requires none', undefined],
])(
  'the official Skills helper reads skills at 2025-11-25 if its client %s [LEX-001 LEX-002]',
  async (_, extensions) => {
    const { http } = await serveExtensions()
    await using _http = http
    const client = await connect(http.url, extensions)
    expect(client.getProtocolEra()).toBe('legacy')
    const skills = new SkillsClient(client)
    expect(skills.supported).toBe(true)
    const [entry] = (await skills.list()).skills
    expect(entry?.frontmatter).toMatchObject({ name: 'charts' })
    if (entry === undefined) throw new Error('no skill')
    expect(await skills.read(entry)).toMatchObject({ verified: true, body: expect.stringContaining('Use the tool') })
    expect((await skills.get(entry.uri)).skill.uri).toBe(entry.uri)
    await client.close()
  },
)

test('an app at 2025-11-25: the host reads the page of its tool, and the tool detects that the host supports pages [LEX-001]', async () => {
  const { http } = await serveExtensions()
  await using _http = http
  const host = await connect(http.url, { [uiExtension]: { mimeTypes: ['text/html;profile=mcp-app'] } })
  const [chart] = (await host.listTools()).tools
  expect(chart?._meta).toMatchObject({ ui: { resourceUri: page } })
  expect((await host.readResource({ uri: page })).contents).toMatchObject([{ mimeType: 'text/html;profile=mcp-app' }])
  expect(await host.callTool({ name: 'chart' })).toMatchObject({ content: [{ text: 'as a page' }] })
  const plain = await connect(http.url)
  expect(await plain.callTool({ name: 'chart' })).toMatchObject({ content: [{ text: 'as text' }] })
  await host.close()
  await plain.close()
})

test('a notification of an extension reaches the server at 2025-11-25 [LEX-002]', async () => {
  const { http, received } = await serveExtensions()
  await using _http = http
  const client = await connect(http.url, { 'com.example/notes': {} })
  await client.transport?.send({ jsonrpc: '2.0', method: 'com.example/seen', params: {} })
  await client.ping()
  expect(received).toEqual(['com.example/seen'])
  await client.close()
})
