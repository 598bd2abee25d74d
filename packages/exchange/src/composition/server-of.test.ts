import type { LogRecord } from '@x/core'
import { describe, expect, test } from 'vitest'
import type { Exchange, Middleware } from '../call/exchange.ts'
import { McpError, metaKeys } from '@x/schema'
import { createCall } from '../call/call-context.ts'
import type { ServerExtension } from '../server/server-extension.ts'
import { serverOf, type ServerOfOptions } from './server-of.ts'

const discovery = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28', '2025-11-25'],
  capabilities: { tools: {} },
}
const relayed: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, result: discovery })
const meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }

function create(options: Partial<ServerOfOptions> = {}) {
  const records: LogRecord[] = []
  const log = (record: LogRecord): void => void records.push(record)
  const server = serverOf(relayed, { info: { name: 'proxy', version: '1.0.0' }, localOnly: undefined, log, ...options })
  const send = (method: string, _meta: object = meta) =>
    server.exchange({ jsonrpc: '2.0', id: 1, method, params: { _meta: { ..._meta } } }, createCall())
  return { server, send, records }
}

function extensionOf(more: Partial<ServerExtension> = {}): ServerExtension {
  return { extends: 'server', name: 'counting', identifier: 'com.example/counting', ...more }
}

test('a server in front of another one announces its own revision, and not those of the other [GWY-010]', async () => {
  const { send } = create()
  expect(await send('server/discover')).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
  expect(await send('tools/list')).toMatchObject({ result: discovery })
})

test('an error without an id is the response to the request, so that a client over stdio does not wait forever [BAS-006]', async () => {
  const error = { code: -32603, message: 'The server is stopping' }
  const server = serverOf(async () => ({ jsonrpc: '2.0', error }), {
    info: { name: 'proxy', version: '1.0.0' },
    localOnly: undefined,
  })
  expect(await server.exchange({ jsonrpc: '2.0', id: 7, method: 'tools/call' }, createCall())).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error,
  })
})

describe('an extension of a server in front of another one', () => {
  test('is announced beside the capabilities of the other, and serves its methods', async () => {
    const { send } = create({
      extensions: [
        extensionOf({
          capabilities: { step: 1 },
          serverCapabilities: { counting: {} },
          start: () => ({ methods: { 'com.example/count': () => ({ count: 3 }) } }),
        }),
      ],
    })
    const capabilities = { tools: {}, counting: {}, extensions: { 'com.example/counting': { step: 1 } } }
    expect(await send('server/discover')).toMatchObject({ result: { capabilities } })
    expect(await send('com.example/count')).toMatchObject({ result: { resultType: 'complete', count: 3 } })
    expect(await send('com.example/count', {})).toMatchObject({ error: { code: -32602 } })
    expect(await send('com.example/count', { ...meta, [metaKeys.protocolVersion]: '2099-01-01' })).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'] } },
    })
  })

  test('answers with its own error, and with one without details for any other', async () => {
    const fail = (error: Error) => () => {
      throw error
    }
    const { send, records } = create({
      extensions: [
        extensionOf({
          start: () => ({
            methods: {
              'com.example/own': fail(new McpError(-31000, 'own')),
              'com.example/bug': fail(new Error('secret')),
            },
          }),
        }),
      ],
    })
    expect(await send('com.example/own')).toMatchObject({ error: { code: -31000, message: 'own' } })
    expect(await send('com.example/bug')).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(records).toMatchObject([{ level: 'error', method: 'com.example/bug' }])
  })

  test('has its middleware inside that of `use`', async () => {
    const order: string[] = []
    const noting =
      (name: string): Middleware =>
      (next) =>
      (request, call) => {
        order.push(name)
        return next(request, call)
      }
    const { send } = create({ use: [noting('use')], extensions: [extensionOf({ middleware: noting('extension') })] })
    await send('tools/list')
    expect(order).toEqual(['use', 'extension'])
  })

  test('receives its notifications, is drained, and closes before what the exchange uses', async () => {
    const events: string[] = []
    const { server } = create({
      extensions: [
        extensionOf({
          notifications: ['com.example/seen'],
          start: () => ({
            api: { count: 3 },
            receive: ({ method }) => void events.push(`extension ${method}`),
            drain: () => {
              events.push('drain')
              return () => void events.push('undrain')
            },
            close: async () => void events.push('close extension'),
          }),
        }),
      ],
      receive: ({ method }) => void events.push(`server ${method}`),
      close: async () => void events.push('close server'),
    })
    server.receive({ jsonrpc: '2.0', method: 'com.example/seen' }, createCall())
    server.receive({ jsonrpc: '2.0', method: 'com.example/other' }, createCall())
    const undrain = server.drain()
    expect(server.load).toMatchObject({ ready: false, draining: true })
    undrain()
    expect(server.load).toMatchObject({ ready: true, draining: false })
    await Promise.all([server.close(), server.attachHost()()])
    expect(events).toEqual([
      'extension com.example/seen',
      'server com.example/seen',
      'server com.example/other',
      'drain',
      'undrain',
      'close extension',
      'close server',
    ])
    expect(server).toMatchObject({ counting: { count: 3 } })
  })

  test('counts its work as load until the work ends', () => {
    let end = (): void => {}
    const { server } = create({
      extensions: [
        extensionOf({
          start: ({ beginWork }) => {
            end = beginWork()
            return {}
          },
        }),
      ],
    })
    expect(server.load.running).toBe(1)
    end()
    end()
    expect(server.load.running).toBe(0)
  })

  test('that needs a principal or this machine alone says so for the server', () => {
    const { server } = create({ extensions: [extensionOf({ needsPrincipal: true, localOnly: 'its files are here' })] })
    expect([server.needsPrincipal, server.localOnly]).toEqual([true, 'its files are here'])
  })
})

test('a server is ready when its extensions and its own function say so, and a failure is reported', async () => {
  expect(await create().server.ready()).toBe(true)
  expect(await create({ ready: () => false }).server.ready()).toBe(false)
  const { server, records } = create({ ready: () => Promise.reject(new Error('no upstream')) })
  expect(await server.ready()).toBe(false)
  expect(records).toMatchObject([{ method: 'ready', err: { message: 'no upstream' } }])
  const away = extensionOf({ start: () => ({ required: true, ready: () => false }) })
  const { server: without } = create({ extensions: [away] })
  expect([await without.ready(), without.load.unavailable]).toEqual([false, ['counting']])
})
