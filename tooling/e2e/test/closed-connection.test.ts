import { PassThrough } from 'node:stream'
import { type Client, createClient, isClientError } from '@x/client'
import { errorResult } from '@x/client/models'
import type { ClientTarget, Connection } from '@x/exchange'
import { gateway, proxy } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { connectStdio, connectStreams, serveStdio } from '@x/transport-stdio'
import { describe, expect, test } from 'vitest'
import { run } from './mistakes.ts'

interface Joined extends AsyncDisposable {
  readonly connection: Connection
}

const tools = [tool('act', { description: 'Acts', run })]
const info = { name: 'e2e', version: '1.0.0', log: () => {} }
const server = createServer({ name: 'e2e-server', version: '1.0.0', tools })

async function overHttp(): Promise<Joined> {
  const http = await serveHttp(server)
  return { connection: connectHttp(http.url), [Symbol.asyncDispose]: () => http.close({ graceMs: 0 }) }
}

function overStreams(): Promise<Joined> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const service = serveStdio(server, { input: there, output: back })
  const connection = connectStreams({ input: back, output: there })
  return Promise.resolve({ connection, [Symbol.asyncDispose]: () => service.close() })
}

async function nextOf(client: Client): Promise<AsyncIterator<unknown>> {
  const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'opened' })
  return events
}

test.each([
  ['HTTP', overHttp],
  ['streams', overStreams],
])('a subscription over %s ends when its connection is closed, instead of reopening for ever', async (_title, join) => {
  await using joined = await join()
  const { connection } = joined
  const events = await nextOf(createClient(connection, { name: 'e2e-client', version: '1.0.0' }))
  expect(connection.closed.aborted).toBe(false)
  const ended = events.next().catch((error: unknown) => error)
  await connection.close()
  expect(await ended).toMatchObject({ code: 'transport' })
  expect(connection.closed.aborted).toBe(true)
  await expect(events.next()).resolves.toEqual({ done: true, value: undefined })
})

describe('a call after the program has closed', () => {
  type Opened = ClientTarget & { close(): Promise<void> }
  // No process is started: `command` is never run, because the connection is closed before its first call.
  const command = { command: process.execPath, args: ['-e', ''] }
  const ways: readonly (readonly [string, boolean, (url: string) => Opened])[] = [
    ['a connection over HTTP', true, (url) => connectHttp(url)],
    ['a connection over HTTP, without a call before', false, (url) => connectHttp(url)],
    ['a connection to any revision', true, (url) => connectAny(url)],
    ['a connection to any revision, without a call before', false, (url) => connectAny(url)],
    ['a connection to a process', false, () => connectStdio(command)],
    ['a connection to a process of any revision', false, () => connectAny(command)],
    ['a gateway', true, (url) => gateway({ ...info, upstreams: { crm: { connect: () => connectAny(url) } } })],
    [
      'a gateway, without a call before',
      false,
      (url) => gateway({ ...info, upstreams: { crm: { connect: () => connectHttp(url) } } }),
    ],
    ['a gateway of a server in this process', true, () => gateway({ ...info, upstreams: { crm: server } })],
    ['a proxy', true, (url) => proxy({ connect: () => connectHttp(url) }, info)],
    ['a proxy, without a call before', false, (url) => proxy({ connect: () => connectAny(url) }, info)],
  ]
  test.each(ways)('%s was not sent, and says so', async (_title, isUsed, open) => {
    await using http = await serveHttp(server)
    const target = open(http.url)
    const client = createClient(target, { name: 'e2e-client', version: '1.0.0' })
    const name = 'upstreams' in target ? 'crm__act' : 'act'
    if (isUsed) await client.callTool(name)
    await target.close()
    const error: unknown = await client.callTool(name).catch((thrown: unknown) => thrown)
    if (!isClientError(error)) throw error
    expect([error.mayHaveRun, JSON.stringify(errorResult(error).content)]).toEqual([
      false,
      expect.stringMatching(/closed here.*Do not try again/i),
    ])
  })
})
