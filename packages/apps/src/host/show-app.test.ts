import { App } from '@modelcontextprotocol/ext-apps'
import { createClient } from '@x/client'
import type { CallToolResult, ReadResourceResult, Tool } from '@x/schema'
import { createServer, resource, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { apps, appTool } from '../server.ts'
import { appsCapabilities, showApp, type ShowAppOptions } from '../host.ts'
import { createFakeFrame, type FakeFrame } from '../testing/fake-frame.ts'

const html = '<!doctype html><title>Weather</title>'
const weather = appTool('weather', {
  description: 'Shows the weather',
  input: z.object({ city: z.string() }),
  output: z.object({ celsius: z.number() }),
  page: { html, csp: { connectDomains: ['https://api.example.com'] } },
  run: () => ({ celsius: 21 }),
})
const refresh = appTool('refresh', { description: 'Reads', page: weather, visibility: ['app'], run: () => 'again' })
const plan = appTool('plan', { description: 'Plans', page: weather, visibility: ['model'], run: () => 'planned' })
const fail = tool('fail', {
  description: 'Fails',
  run: () => {
    throw new Error('a secret of the server')
  },
})
const note = resource('note://a', { name: 'a', read: () => 'A note' })
const server = createServer({
  name: 'demo',
  version: '1.0.0',
  log: () => {},
  tools: [weather, refresh, plan, fail],
  resources: [note],
  extensions: [apps()],
})
const client = createClient(server, { name: 'host', version: '1.0.0', capabilities: appsCapabilities })
const host = { name: 'host', version: '1.0.0' }
const args = { city: 'Oslo' }

async function listed(name: string): Promise<Tool> {
  const found = (await client.listTools()).find((each) => each.name === name)
  if (found === undefined) throw new Error(`${name} is not listed`)
  return found
}

/** Shows the page of `weather` in a frame, with the official class in it. */
async function show(options: Partial<ShowAppOptions> = {}) {
  const frame = createFakeFrame()
  const result = client.callTool('weather', args)
  const shown = await showApp(frame, {
    client,
    host,
    tool: await listed('weather'),
    arguments: args,
    result,
    ...options,
  })
  const app = new App({ name: 'page', version: '1.0.0' }, {}, { autoResize: false })
  return { frame, shown, app, connect: () => app.connect(frame.transport) }
}

/** Resolves with the params of the first event. */
function next<T>(subscribe: (listener: (params: T) => void) => void): Promise<T> {
  return new Promise((resolve) => subscribe(resolve))
}

const methodsOf = (frame: FakeFrame) => frame.received.map(({ message }) => message.method)

describe('a page, with the class App of the official package', () => {
  test('gets the host, the arguments and the result of the call, and nothing before it is ready [APP-011 APP-015 APP-020 APP-021]', async () => {
    const { frame, app, connect } = await show({ context: { theme: 'dark' } })
    const input = next((listener) => app.addEventListener('toolinput', listener))
    const result = next((listener) => app.addEventListener('toolresult', listener))
    expect(frame.received).toEqual([])
    await connect()
    expect(app.getHostVersion()).toEqual(host)
    expect(app.getHostContext()).toMatchObject({
      theme: 'dark',
      displayMode: 'inline',
      toolInfo: { tool: { name: 'weather' } },
    })
    expect(await input).toEqual({ arguments: args })
    expect(await result).toMatchObject({ structuredContent: { celsius: 21 } })
    expect(methodsOf(frame)).toEqual([undefined, 'ui/notifications/tool-input', 'ui/notifications/tool-result'])
  })

  test('is told that the call was cancelled, without the reason [APP-021]', async () => {
    const { app, connect } = await show({ result: Promise.reject(new Error('a secret of the host')) })
    const cancelled = next((listener) => app.addEventListener('toolcancelled', listener))
    await connect()
    expect(await cancelled).toEqual({ reason: 'The call was cancelled or failed' })
  })

  test('calls the tools of its server that pages may call [APP-010]', async () => {
    const { app, connect } = await show()
    await connect()
    expect(await app.callServerTool({ name: 'refresh', arguments: {} })).toMatchObject({ content: [{ text: 'again' }] })
    for (const name of ['plan', 'unknown'])
      await expect(app.callServerTool({ name, arguments: {} })).rejects.toThrow(`cannot call a tool "${name}"`)
    expect(await app.callServerTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true })
    await expect(app.callServerTool({ name: 'weather', arguments: { city: 7 } })).resolves.toMatchObject({
      isError: true,
    })
  })

  test('reads resources, and gets the error of the server for others', async () => {
    const { app, connect } = await show()
    await connect()
    expect(await app.readServerResource({ uri: 'note://a' })).toMatchObject({ contents: [{ text: 'A note' }] })
    await expect(app.readServerResource({ uri: 'note://b' })).rejects.toThrow('Resource not found')
  })

  test('opens links, writes messages and informs the model if the host serves that', async () => {
    const taken: unknown[] = []
    const take = (value: unknown): boolean => taken.push(value) > 0
    const { app, connect } = await show({
      openLink: take,
      sendMessage: take,
      updateModelContext: (value) => void take(value),
    })
    await connect()
    expect(app.getHostCapabilities()).toMatchObject({ openLinks: {}, message: { text: {} }, updateModelContext: {} })
    await app.openLink({ url: 'https://example.com/' })
    await app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'hello' }] })
    await app.updateModelContext({ content: [{ type: 'text', text: 'city: Oslo' }] })
    const content = [{ type: 'text', text: 'city: Oslo' }]
    expect(taken).toEqual([
      new URL('https://example.com/'),
      [{ type: 'text', text: 'hello' }],
      { content, structuredContent: undefined },
    ])
    await expect(app.openLink({ url: 'javascript:alert(1)' })).rejects.toThrow('https:')
  })

  test('is refused what the host does not serve [APP-019]', async () => {
    const { app, connect } = await show({ sendMessage: () => false })
    await connect()
    expect(app.getHostCapabilities()).not.toHaveProperty('openLinks')
    await expect(app.openLink({ url: 'https://example.com/' })).rejects.toThrow('does not serve ui/open-link')
    expect(await app.sendMessage({ role: 'user', content: [] })).toMatchObject({ isError: true })
    expect(await app.requestDisplayMode({ mode: 'fullscreen' })).toEqual({ mode: 'inline' })
  })

  test('changes the height of its frame up to a limit [APP-018]', async () => {
    const { frame, app, connect } = await show()
    await connect()
    await app.sendSizeChanged({ width: 100, height: 120.4 })
    expect(frame.style.height).toBe('121px')
    await app.sendSizeChanged({ width: 100, height: 1e9 })
    expect(frame.style.height).toBe('10000px')
  })

  test('learns what changes around it', async () => {
    const { shown, app, connect } = await show()
    await connect()
    const changed = next((listener) => app.addEventListener('hostcontextchanged', listener))
    shown.updateContext({ theme: 'light' })
    expect(await changed).toEqual({ theme: 'light' })
  })

  test('learns what changed around it before it was ready', async () => {
    const { shown, app, connect } = await show({ context: { theme: 'dark', locale: 'nb' } })
    const changed = next((listener) => app.addEventListener('hostcontextchanged', listener))
    shown.updateContext({ theme: 'light' })
    const connected = connect()
    expect(await changed).toEqual({ theme: 'light' })
    await connected
    expect(app.getHostContext()).toMatchObject({ theme: 'light', locale: 'nb', displayMode: 'inline' })
  })

  test('is asked to finish before its frame is removed [APP-022]', async () => {
    const { frame, shown, app, connect } = await show()
    await connect()
    let isRemovedFirst: boolean | undefined
    app.onteardown = () => {
      isRemovedFirst = frame.isRemoved
      return {}
    }
    await shown.close()
    expect([isRemovedFirst, frame.isRemoved]).toEqual([false, true])
    await shown.closed
  })

  test('can ask to be closed', async () => {
    const { frame, shown, app, connect } = await show()
    await connect()
    app.onteardown = () => ({})
    await app.requestTeardown()
    await shown.closed
    expect(frame.isRemoved).toBe(true)
  })
})

describe('a host', () => {
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' }
  test.each([
    ['another window', { source: {}, data: ping }],
    ['no window', { source: null, data: ping }],
    ['another origin', { origin: 'https://evil.example', data: ping }],
    ['the origin of the host', { origin: 'https://host.example', data: ping }],
    ['a text', { data: JSON.stringify(ping) }],
    ['an id that is none', { data: { ...ping, id: {} } }],
    ['another version of JSON-RPC', { data: { ...ping, jsonrpc: '1.0' } }],
  ])('ignores a message of %s [APP-009]', async (_, event) => {
    const { frame } = await show()
    frame.post(event)
    await Promise.resolve()
    expect(frame.received).toEqual([])
    frame.post({ data: ping })
    await expect.poll(() => frame.received).toMatchObject([{ message: { id: 7, result: {} } }])
  })

  test('limits the calls of a page that run at a time', async () => {
    const never = {
      ...client,
      listTools: async () => [await listed('weather')],
      callTool: () => new Promise<never>(() => {}),
    }
    const { frame } = await show({ client: { ...never, readResource: client.readResource } })
    for (let id = 0; id <= 32; id += 1)
      frame.post({ data: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'weather' } } })
    await expect
      .poll(() => frame.received)
      .toMatchObject([{ message: { id: 32, error: { message: 'Too many requests at a time' } } }])
  })

  test('cancels a call for its page, and all calls when the page is closed', async () => {
    const [started, aborted]: string[][] = [[], []]
    const callTool = (name: string, _args: unknown, { signal }: { signal?: AbortSignal | undefined } = {}) =>
      new Promise<CallToolResult>(() => {
        started?.push(name)
        signal?.addEventListener('abort', () => aborted?.push(name))
      })
    const tools = ['a', 'b'].map((name) => ({ name, inputSchema: { type: 'object' } as const }))
    const { frame, shown } = await show({ client: { ...client, listTools: async () => tools, callTool } })
    for (const { name } of tools)
      frame.post({ data: { jsonrpc: '2.0', id: name, method: 'tools/call', params: { name } } })
    await expect.poll(() => started).toEqual(['a', 'b'])
    frame.post({ data: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } } })
    expect(aborted).toEqual(['a'])
    await shown.close()
    expect(aborted).toEqual(['a', 'b'])
  })

  test('removes a page that leaves its document', async () => {
    const { frame, shown } = await show()
    frame.load()
    expect(frame.isRemoved).toBe(false)
    frame.load()
    await shown.closed
    expect(frame.isRemoved).toBe(true)
  })

  test('gives a sandbox the page when it is ready, and listens to its origin [APP-012 APP-013]', async () => {
    expect((await show()).frame.attributes.get('sandbox')).toBe('allow-scripts')
    const { frame } = await show({ sandbox: 'https://sandbox.example/app' })
    expect([frame.src, frame.attributes.get('sandbox')]).toEqual([
      'https://sandbox.example/app',
      'allow-scripts allow-same-origin',
    ])
    const ready = { jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }
    frame.post({ data: ready })
    expect(frame.received).toEqual([])
    frame.post({ data: ready, origin: 'https://sandbox.example' })
    expect(frame.received).toMatchObject([
      { targetOrigin: 'https://sandbox.example', message: { params: { html: expect.stringContaining(html) } } },
    ])
  })

  test('behind a gateway, lets a page use its own upstream alone [APP-025]', async () => {
    const calls: unknown[] = []
    const tools = ['crm__show', 'crm__refresh', 'files__delete'].map(
      (name): Tool => ({ name, inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: 'ui://crm/page.html' } } }),
    )
    const gatewayClient: ShowAppOptions['client'] = {
      listTools: async () => tools,
      callTool: async (name) => (calls.push(name), { resultType: 'complete', content: [] }),
      readResource: async (uri): Promise<ReadResourceResult> => (
        calls.push(uri),
        {
          resultType: 'complete',
          ttlMs: 0,
          cacheScope: 'private',
          contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: html }],
        }
      ),
    }
    const { app, connect } = await show({ client: gatewayClient, ...(tools[0] && { tool: tools[0] }) })
    await connect()
    for (const name of ['refresh', 'crm__refresh']) await app.callServerTool({ name, arguments: {} })
    for (const name of ['files__delete', 'delete'])
      await expect(app.callServerTool({ name, arguments: {} })).rejects.toThrow('cannot call a tool')
    for (const uri of ['note://a', 'crm+note://a', 'ui://page.html', 'files+file:///etc/passwd'])
      await app.readServerResource({ uri })
    expect(calls).toEqual([
      'ui://crm/page.html',
      'crm__refresh',
      'crm__refresh',
      'crm+note://a',
      'crm+note://a',
      'ui://crm/page.html',
      'crm+files+file:///etc/passwd',
    ])
  })

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['a tool without a page', async () => show({ tool: await listed('fail') }), /"fail" has no page/],
    ['a sandbox at its own origin', () => show({ sandbox: '/sandbox' }), /serve it at another one/],
  ])('rejects %s', async (_, run, message) => {
    await expect(run()).rejects.toThrow(message)
  })
})
