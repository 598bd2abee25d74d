import type { LogRecord } from '@x/core'
import { callerKeyOf, clientAddressKey, createCall, withContext } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { resource, tool, type Tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { createGate } from '@tooling/vitest/gate'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRpcRequest, createScriptedClient } from '../../testing/scripted-client.ts'
import { collectWarnings, createLegacyServer } from '../../testing/serve-legacy.ts'
import type { LegacyOptions } from '../session/options.ts'

/** A tool that says two things, waits, and ends. */
function talking() {
  const gate = createGate()
  const aborted = createGate()
  const talk = tool('talk', {
    description: 'Says two things and waits',
    run: async (_, ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.open())
      ctx.log('info', 'first')
      ctx.log('info', 'second')
      await gate.opened
      ctx.log('info', 'third')
      return 'the end'
    },
  })
  return { talk, gate, aborted }
}

function serve(tools: readonly Tool[], options?: LegacyOptions, log = collectWarnings([])) {
  const notes = resource('test://notes', { name: 'notes', read: () => 'Notes' })
  const server = createLegacyServer({ tools, resources: [notes], strictReplay: false, log }, options)
  const handler = httpHandler(server, { clientAddress: ({ header }) => header('x-caller') })
  const client = (revision?: string, headers?: Record<string, string>) =>
    createScriptedClient(handler, revision, headers)
  return { server, handler, client }
}

const talkCall = (): ReturnType<typeof createRpcRequest> =>
  createRpcRequest('tools/call', { name: 'talk', arguments: {} })
const dataOf = (message: JsonObject | undefined): unknown => (message?.['params'] as JsonObject | undefined)?.['data']

test('a stream begins with an event that has an id and no data, in 2025-11-25 alone [LEG-024 LEG-026]', async () => {
  for (const [revision, primed] of [
    ['2025-11-25', true],
    ['2025-06-18', false],
  ] as const) {
    const { talk, gate } = talking()
    const client = serve([talk]).client(revision)
    await client.initialize()
    gate.open()
    const events = await client.openStream(talkCall())
    const first = await events.readEvent()
    expect(first?.message === undefined).toBe(primed)
    expect(first?.id).toMatch(/^[\w-]{22}\.\d+$/)
  }
})

test('what has nothing to say before its end answers JSON', async () => {
  const quiet = tool('quiet', { description: 'Says nothing', run: () => 'done' })
  const client = serve([quiet]).client()
  await client.initialize()
  const { headers, status } = await client.post(createRpcRequest('tools/call', { name: 'quiet', arguments: {} }))
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
})

test('a broken stream continues where it broke, without what was received [LEG-032 LEG-035 LEG-037 LEG-038]', async () => {
  const { talk, gate, aborted } = talking()
  const client = serve([talk]).client()
  await client.initialize()
  const request = talkCall()
  const events = await client.openStream(request)
  await events.readEvent()
  const received = await events.readEvent()
  expect(dataOf(received?.message)).toBe('first')
  await events.leave()
  const resumed = await client.get({ 'last-event-id': received?.id })
  expect(dataOf(await resumed.readMessage())).toBe('second')
  gate.open()
  expect(dataOf(await resumed.readMessage())).toBe('third')
  const response = await resumed.readMessage()
  expect(response).toMatchObject({ id: request.id, result: { content: [{ text: 'the end' }] } })
  expect(await resumed.readEvent()).toBeUndefined()
  await expect(Promise.race([aborted.opened.then(() => 'aborted'), Promise.resolve('ran')])).resolves.toBe('ran')
})

test('a resumed stream begins with its event id, so that it can break and be resumed again before any other event', async () => {
  const client = serve([talking().talk]).client()
  await client.initialize()
  const events = await client.openStream(talkCall())
  const primer = await events.readEvent()
  await events.leave()
  for (const _ of ['a first time', 'a second time']) {
    const resumed = await client.get({ 'last-event-id': primer?.id })
    expect(await resumed.readEvent()).toEqual(primer)
    await resumed.leave()
  }
})

test('the response of a call that ended without its reader is delivered when it resumes', async () => {
  const { talk, gate } = talking()
  const client = serve([talk]).client()
  await client.initialize()
  const events = await client.openStream(talkCall())
  const primer = await events.readEvent()
  await events.leave()
  gate.open()
  await client.request('ping')
  const resumed = await client.get({ 'last-event-id': primer?.id })
  const seen: unknown[] = []
  for (let message = await resumed.readMessage(); message !== undefined; message = await resumed.readMessage())
    seen.push(dataOf(message) ?? 'response')
  expect(seen).toEqual(['first', 'second', 'third', 'response'])
})

test('a response that was written to a broken connection is sent again on another one [LEG-032 LEG-039]', async () => {
  const { talk, gate } = talking()
  const { client: connect, server } = serve([talk])
  const [client, thief] = [connect(), connect()]
  await client.initialize()
  await thief.initialize()
  const request = talkCall()
  const events = await client.openStream(request)
  const primer = await events.readEvent()
  gate.open()
  // The server has written everything. This client has read the first event alone.
  while ((await events.readEvent()) !== undefined);
  expect((await thief.get({ 'last-event-id': primer?.id })).status).toBe(404)
  for (const _ of ['a first time', 'a second time']) {
    const resumed = await client.get({ 'last-event-id': primer?.id })
    expect(dataOf(await resumed.readMessage())).toBe('first')
    expect(dataOf(await resumed.readMessage())).toBe('second')
    expect(dataOf(await resumed.readMessage())).toBe('third')
    expect(await resumed.readMessage()).toMatchObject({ id: request.id, result: { content: [{ text: 'the end' }] } })
    expect(await resumed.readEvent()).toBeUndefined()
  }
  await server.close()
  expect(server.ledger.usedInAll('finished_bytes')).toBe(0)
})

test('a stream that no client resumes ends its call', async () => {
  const { talk, aborted } = talking()
  const client = serve([talk], { resumeWindowMs: 20 }).client()
  await client.initialize()
  const events = await client.openStream(talkCall())
  const primer = await events.readEvent()
  await events.leave()
  await aborted.opened
  expect((await client.get({ 'last-event-id': primer?.id })).status).toBe(404)
})

test('a call of a client without a session ends with its connection', async () => {
  const { talk, aborted } = talking()
  const client = serve([talk]).client()
  const events = await client.openStream(talkCall(), { 'mcp-protocol-version': '2025-11-25' })
  expect(dataOf(await events.readMessage())).toBe('first')
  await events.leave()
  await aborted.opened
})

test('the event ids of another session, and those that never were, are unknown [LEG-039 LEG-090]', async () => {
  const { talk } = talking()
  const { client: connect } = serve([talk])
  const [client, thief] = [connect(), connect()]
  await client.initialize()
  await thief.initialize()
  const events = await client.openStream(talkCall())
  const primer = await events.readEvent()
  await events.leave()
  expect((await thief.get({ 'last-event-id': primer?.id })).status).toBe(404)
  for (const id of ['x', '.', `${'A'.repeat(22)}.1`, `${'A'.repeat(22)}.-1`, '__proto__'])
    expect((await client.get({ 'last-event-id': id })).status).toBe(404)
  expect((await client.get({ 'last-event-id': primer?.id })).status).toBe(200)
})

test('a client polls where connections are closed: retry, then the rest on a GET [LEG-028 LEG-030]', async () => {
  const { talk, gate } = talking()
  const client = serve([talk], { closeAfterMs: 30 }).client()
  await client.initialize()
  const request = talkCall()
  const events = await client.openStream(request)
  const primer = await events.readEvent()
  expect(primer).toMatchObject({ message: undefined, retry: '1000' })
  let last = primer
  for (let next = await events.readEvent(); next !== undefined; next = await events.readEvent()) last = next
  gate.open()
  const resumed = await client.get({ 'last-event-id': last?.id })
  expect(dataOf(await resumed.readMessage())).toBe('third')
  expect(await resumed.readMessage()).toMatchObject({ id: request.id })
})

test('an instance keeps 16 broken streams of one session [LEG-091]', async () => {
  const warnings: LogRecord[] = []
  const { client: connect } = serve([talking().talk], {}, collectWarnings(warnings))
  const client = connect()
  await client.initialize()
  const primers: (string | undefined)[] = []
  for (let stream = 0; stream < 17; stream += 1) {
    const events = await client.openStream(talkCall())
    primers.push((await events.readEvent())?.id)
    await events.leave()
  }
  expect(warnings).toMatchObject([{ level: 'warn', code: 'limit' }])
  expect((await client.get({ 'last-event-id': primers[0] })).status).toBe(404)
  expect((await client.get({ 'last-event-id': primers[16] })).status).toBe(200)
})

test('a URI that no resource has is refused, and kept nowhere [LEG-062]', async () => {
  const { server, client: connect } = serve([talking().talk])
  const client = connect()
  await client.initialize()
  expect(await client.request('resources/subscribe', { uri: 'test://none' })).toMatchObject({
    error: { code: -32002, data: { uri: 'test://none' } },
  })
  expect(server.ledger.usedInAll('uris')).toBe(0)
})

test('one caller subscribes to a share of the resources, over all of its sessions [LDG-001 LDG-003]', async () => {
  const { server, client: connect } = serve([talking().talk])
  const subscribe = async (caller: string): Promise<unknown> => {
    const client = connect(undefined, { 'x-caller': caller })
    await client.initialize()
    return (await client.post(createRpcRequest('resources/subscribe', { uri: 'test://notes' }))).json
  }
  const callerKey = callerKeyOf(withContext(createCall(), clientAddressKey, '192.0.2.66'))
  server.ledger.take('uris', callerKey, server.ledger.boundOf('uris').perCaller - 1)
  expect(await subscribe('192.0.2.66')).toMatchObject({ result: {} })
  expect(await subscribe('192.0.2.66')).toMatchObject({
    error: { data: { reason: 'quota', limit: 'uris', max: 2000 } },
  })
  expect(await subscribe('192.0.2.1')).toMatchObject({ result: {} })
})

test('list changes and updates of subscribed resources alone reach the GET stream [LEG-034 LEG-061 LEG-063]', async () => {
  const { server, client: connect } = serve([talking().talk])
  const client = connect()
  await client.initialize()
  expect(await client.request('resources/subscribe', { uri: 'test://notes' })).toMatchObject({ result: {} })
  const events = await client.get()
  expect([events.status, events.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(events.headers.get('cache-control')).toContain('no-transform')
  await server.notifyListChanged('tools')
  expect(await events.readMessage()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  await server.notifyResourceUpdated('test://other')
  await server.notifyResourceUpdated('test://notes')
  expect(await events.readMessage()).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'test://notes' },
  })
  await client.request('resources/unsubscribe', { uri: 'test://notes' })
  await server.notifyResourceUpdated('test://notes')
  await server.notifyListChanged('resources')
  expect(await events.readMessage()).toMatchObject({ method: 'notifications/resources/list_changed' })
})

test('a subscription that is made while the stream is open counts at once', async () => {
  const { server, client: connect } = serve([talking().talk])
  const client = connect()
  await client.initialize()
  const events = await client.get()
  await client.request('resources/subscribe', { uri: 'test://notes' })
  await server.notifyResourceUpdated('test://notes')
  expect(await events.readMessage()).toMatchObject({ params: { uri: 'test://notes' } })
})

test('a session has one GET stream: a newer one closes the older [LEG-036]', async () => {
  const { server, client: connect } = serve([talking().talk])
  const client = connect()
  await client.initialize()
  const older = await client.get()
  const newer = await client.get()
  expect(await older.readEvent()).toBeUndefined()
  const newest = await client.get()
  expect(await newer.readEvent()).toBeUndefined()
  await server.notifyListChanged('tools')
  expect(await newest.readMessage()).toMatchObject({ method: 'notifications/tools/list_changed' })
  await client.end()
  expect(await newest.readEvent()).toBeUndefined()
})

test('a server with nothing to tell answers a GET with 405, and refuses subscriptions [LEG-034]', async () => {
  const server = createLegacyServer({ tools: [talking().talk], subscriptions: false })
  const client = createScriptedClient(httpHandler(server))
  await client.initialize()
  expect((await client.get()).status).toBe(405)
  expect(await client.request('resources/subscribe', { uri: 'a://b' })).toMatchObject({ error: { code: -32601 } })
})

test('a stop ends the GET stream, so that the client goes to another instance', async () => {
  const { client: connect, server } = serve([talking().talk])
  const client = connect()
  await client.initialize()
  const events = await client.get()
  server.drain()
  expect(await events.readEvent()).toBeUndefined()
})

test('a batch of 2025-03-26 is answered by an array, each message by itself [LEG-097]', async () => {
  const echo = tool('echo', {
    description: 'Gives back',
    input: z.object({ text: z.string() }),
    run: ({ text }) => text,
  })
  const client = serve([echo]).client('2025-03-26')
  await client.initialize()
  const call = createRpcRequest('tools/call', { name: 'echo', arguments: { text: 'a' } })
  const ping = createRpcRequest('ping')
  const nested = createRpcRequest('initialize', { protocolVersion: '2025-03-26', capabilities: {} })
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const { status, json } = await client.post([call, initialized, ping, nested, { jsonrpc: '1.0' }])
  expect([status, Array.isArray(json)]).toEqual([200, true])
  expect(json).toHaveLength(4)
  expect(json).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: call.id, result: { content: [{ type: 'text', text: 'a' }] } },
      { jsonrpc: '2.0', id: ping.id, result: {} },
      { jsonrpc: '2.0', id: nested.id, error: expect.objectContaining({ code: -32600 }) },
      { jsonrpc: '2.0', error: expect.objectContaining({ code: -32600 }) },
    ]),
  )
  expect((await client.post([initialized])).status).toBe(202)
})
