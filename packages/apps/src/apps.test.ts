import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createClient } from '@x/client'
import { createCall, type ToolTypes } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { createServer, DefinitionError, tool } from '@x/server'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { pageFile } from './node.ts'
import { type AppPage, apps, appTool, type ResultOf, showsPages } from './server.ts'

const mediaType = 'text/html;profile=mcp-app'
const html = '<!doctype html><title>Weather</title>'

const weather = appTool('weather', {
  description: 'Shows the weather',
  input: z.object({ city: z.string() }),
  output: z.object({ celsius: z.number() }),
  page: {
    html,
    csp: { connectDomains: ['https://api.example.com'] },
    permissions: ['geolocation'],
    prefersBorder: true,
  },
  run: () => ({ celsius: 21 }),
})
const refresh = appTool('refresh', {
  description: 'Measures again',
  page: weather,
  visibility: ['app'],
  run: (_args, ctx) => (showsPages(ctx) ? 'page' : 'text'),
})
const where = tool('where', { description: 'Says where', run: (_args, ctx) => (showsPages(ctx) ? 'page' : 'text') })
const tools = [weather, refresh, where]
const server = createServer({ name: 'demo', version: '1.0.0', tools, extensions: [apps()] })

/** A client of a host with these settings of the extension. */
function connect(settings?: JsonObject) {
  const extensions = settings && { 'io.modelcontextprotocol/ui': settings }
  return createClient(server, { name: 'host', version: '1.0.0', capabilities: { ...(extensions && { extensions }) } })
}
const withPages = connect({ mimeTypes: ['text/html', mediaType] })
const withoutPages = connect()

describe('a server with pages', () => {
  test('names the page of a tool in its entry [APP-001 APP-005]', async () => {
    const listed = await withPages.listTools()
    expect(listed.map(({ name, _meta }) => [name, _meta?.['ui']])).toEqual([
      ['weather', { resourceUri: 'ui://weather/page.html' }],
      ['refresh', { resourceUri: 'ui://weather/page.html', visibility: ['app'] }],
      ['where', undefined],
    ])
  })

  test('declares the extension and resources', async () => {
    const { capabilities } = await withPages.discover()
    expect(capabilities).toMatchObject({ extensions: { 'io.modelcontextprotocol/ui': {} }, resources: {} })
  })

  test('serves the page with its policy, in the list and as it is read [APP-002 APP-003 APP-004]', async () => {
    const ui = {
      csp: { connectDomains: ['https://api.example.com'] },
      permissions: { geolocation: {} },
      prefersBorder: true,
    }
    const uri = 'ui://weather/page.html'
    expect(await withPages.listResources()).toEqual([{ uri, name: 'weather', mimeType: mediaType, _meta: { ui } }])
    const { contents } = await withPages.readResource(uri)
    expect(contents).toEqual([{ uri, mimeType: mediaType, text: html, _meta: { ui } }])
  })

  test.each<[string, JsonObject | undefined]>([
    ['no extension', undefined],
    ['no media types', {}],
    ['other media types', { mimeTypes: ['text/html'] }],
    ['a text instead of a list', { mimeTypes: mediaType }],
  ])('hides pages, and tools for pages alone, from a host that declares %s [APP-006]', async (_case, settings) => {
    const client = connect(settings)
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['weather', 'where'])
    expect(await client.listResources()).toEqual([])
    await expect(client.callTool('refresh')).rejects.toMatchObject({ rpc: { code: -32602 } })
  })

  test('returns content for hosts without pages, too [APP-007 APP-008]', async () => {
    const expected = { structuredContent: { celsius: 21 }, content: [{ type: 'text', text: '{"celsius":21}' }] }
    expect(await withoutPages.callTool('weather', { city: 'Oslo' })).toMatchObject(expected)
    expect(await withPages.callTool('weather', { city: 'Oslo' })).toMatchObject(expected)
  })

  test('shows a handler whether its host shows pages, for each call', async () => {
    expect(await withPages.callTool('where')).toMatchObject({ content: [{ text: 'page' }] })
    expect(await withoutPages.callTool('where')).toMatchObject({ content: [{ text: 'text' }] })
    expect(await withPages.callTool('refresh')).toMatchObject({ content: [{ text: 'page' }] })
  })

  test('rejects a request whose _meta is invalid as any server does', async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: 'text' } } as const
    expect(await server.exchange(request, createCall())).toMatchObject({ error: { code: -32602 } })
  })

  test('serves the pages of the tools that it has after an update', async () => {
    const changing = createServer({ name: 'demo', version: '1.0.0', tools: [weather], extensions: [apps()] })
    const client = createClient(changing, { name: 'host', version: '1.0.0' })
    await client.readResource('ui://weather/page.html')
    changing.update({ tools: [appTool('map', { description: 'Shows a map', page: { html }, run: () => 'x' })] })
    expect((await client.readResource('ui://map/page.html')).contents).toMatchObject([{ text: html }])
    await expect(client.readResource('ui://weather/page.html', { refresh: true })).rejects.toMatchObject({
      rpc: { message: 'Resource not found' },
    })
  })

  test('reads a page from its file for each request', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'apps-'))
    const file = path.join(folder, 'page.html')
    const page = { html: pageFile(file) }
    const tools = [appTool('t', { description: 'Shows it', page, run: () => 'x' })]
    const reading = createServer({ name: 'demo', version: '1.0.0', log: () => {}, tools, extensions: [apps()] })
    const client = createClient(reading, { name: 'host', version: '1.0.0', cache: false })
    await expect(client.readResource('ui://t/page.html')).rejects.toMatchObject({ rpc: { code: -32603 } })
    for (const text of [html, `${html}<p>2`]) {
      await writeFile(file, text)
      expect((await client.readResource('ui://t/page.html')).contents).toMatchObject([{ text }])
    }
    await rm(folder, { recursive: true })
  })
})

describe('appTool', () => {
  const define = (page: Partial<AppPage>, visibility?: never) =>
    appTool('t', { description: 'Shows it', page: { html, ...page }, visibility, run: () => 'x' })

  test.each(['https://*.example.com', 'http://localhost:3000', 'wss://live.example.com'])('accepts %s', (origin) => {
    expect(define({ csp: { resourceDomains: [origin] } }).page.csp).toEqual({ resourceDomains: [origin] })
  })

  test.each(['*', 'example.com', 'https://example.com/path', "'unsafe-eval'", 'https://a.com; script-src *', 'data:'])(
    'rejects %s, which is no origin',
    (origin) => {
      expect(() => define({ csp: { frameDomains: [origin] } })).toThrow(DefinitionError)
    },
  )

  test('rejects a visibility that no caller has', () => {
    for (const visibility of [[], ['user']]) {
      // @ts-expect-error only a program without types does this
      expect(() => define({}, visibility)).toThrow('visibility must be a list of "model" and "app"')
    }
  })

  test('makes a tool that a server without the extension does not accept', () => {
    const create = () => createServer({ name: 'demo', version: '1.0.0', tools: [weather] })
    expect(create).toThrow('"weather": needs the extension io.modelcontextprotocol/ui')
  })

  test('keeps the types of the arguments and of the result', () => {
    expectTypeOf<ResultOf<typeof weather>>().toEqualTypeOf<{ celsius: number }>()
    expectTypeOf(weather['~types']).toEqualTypeOf<ToolTypes<{ city: string }, { celsius: number }> | undefined>()
  })
})
