import { createCall } from '@x/exchange'
import type { RpcNotification, RpcResponse } from '@x/schema'
import { createServer, resource, tool } from '@x/server'
import { expect, test } from 'vitest'
import { createGate } from '@tooling/vitest/gate'
import { manualClock } from '@tooling/vitest/manual-clock'
import {
  callOf,
  createGateway,
  createNotes,
  namesIn,
  openStream,
  type OpenedStream,
  resultOf,
} from '../testing/gateway-kit.ts'
import { proxy } from './proxy.ts'
import {
  type ArrivedRequest,
  createScriptedUpstream,
  hideReadings,
  type ScriptedUpstream,
} from '../testing/scripted-upstream.ts'

const acknowledged = 'subscriptions/acknowledged'

function createCounter(name: string) {
  const count = (description: string) => tool('count', { description, run: () => name })
  const resources = ['1', '2'].map((id) => resource(`note://${id}`, { name: id, read: () => id }))
  const server = createServer({
    name,
    version: '1.0.0',
    state: false,
    tools: [count('Counts')],
    resources,
    log: () => {},
  })
  return {
    server,
    changeTools: () => server.update({ tools: [count('Counts more')], resources }),
    changeNote: (uri: string) => void server.notifyResourceUpdated(uri),
  }
}

/** An upstream that keeps its streams open until a test ends them. */
function createStreaming(): ScriptedUpstream & {
  readonly streams: { readonly send: (method: string, params: object) => void; readonly end: () => void }[]
} {
  const streams: { readonly send: (method: string, params: object) => void; readonly end: () => void }[] = []
  const answer = ({ request: { id, params }, call }: ArrivedRequest): Promise<RpcResponse> =>
    new Promise((resolve, reject) => {
      const end = (): void => resolve({ jsonrpc: '2.0', id, result: { resultType: 'complete' } })
      const send = (method: string, more: object): void =>
        call.notify({ jsonrpc: '2.0', method: `notifications/${method}`, params: { ...more } } as RpcNotification)
      call.signal.addEventListener('abort', () => reject(call.signal.reason))
      streams.push({ send, end })
      send(acknowledged, { notifications: params?.['notifications'] })
    })
  return hideReadings(Object.assign(createScriptedUpstream({ answer }), { streams }))
}

const paramsOf = ({ arrived }: OpenedStream, method: string): unknown[] =>
  arrived.filter(({ method: each }) => each === `notifications/${method}`).map(({ params }) => params)

test('one stream has the changes of all upstreams, behind one acknowledgement', async () => {
  const [crm, files] = [createCounter('crm'), createCounter('files')]
  const server = createGateway({ crm: crm.server, files: files.server })
  const resourceSubscriptions = ['crm+note://1', 'files+note://2', 'hr+note://1']
  const stream = openStream(server, { toolsListChanged: true, resourceSubscriptions })
  await expect.poll(stream.methods).toEqual([acknowledged])
  // A resource of no upstream is not followed, and is absent from the acknowledgement.
  expect(paramsOf(stream, acknowledged)).toMatchObject([
    { notifications: { toolsListChanged: true, resourceSubscriptions: ['crm+note://1', 'files+note://2'] } },
  ])
  crm.changeNote('note://1')
  files.changeNote('note://1')
  files.changeNote('note://2')
  crm.changeTools()
  files.changeTools()
  await expect.poll(stream.methods).toContain('tools/list_changed')
  expect(
    paramsOf(stream, 'resources/updated')
      .map((params) => (params as { uri: string }).uri)
      .toSorted(),
  ).toEqual(['crm+note://1', 'files+note://2'])
  // The changes of two lists within a tenth of a second are one notification.
  expect(paramsOf(stream, 'tools/list_changed')).toHaveLength(1)
  expect(stream.arrived.map(({ params }) => params?.['_meta'])).toEqual(
    stream.arrived.map(() => ({ 'io.modelcontextprotocol/subscriptionId': 1 })),
  )
  stream.close()
  await expect(stream.ended).resolves.toMatchObject({ result: { resultType: 'complete' } })
  await server.close()
})

test('a stream that an upstream ends is opened again, and everything of that upstream may have changed [GWY-007]', async () => {
  const timers: { readonly run: () => void; readonly ms: number }[] = []
  const runtime = {
    setTimeout: (run: () => void, ms: number) => {
      timers.push({ run, ms })
      return timers.length - 1
    },
    clearTimeout: (id: unknown) => void timers.splice(Number(id), 1, { run: () => {}, ms: 0 }),
  }
  const runTimers = (ms: number): void => timers.filter((timer) => timer.ms === ms).forEach(({ run }) => run())
  const [crm, files] = [createStreaming(), createStreaming()]
  const server = createGateway({ crm, files }, { runtime })
  const stream = openStream(server, { toolsListChanged: true, resourceSubscriptions: ['crm+note://1'] })
  await expect.poll(stream.methods).toEqual([acknowledged])
  crm.streams[0]?.end()
  await expect.poll(() => timers.some(({ ms }) => ms >= 500 && ms <= 1000)).toBe(true)
  for (const { run } of timers.filter(({ ms }) => ms >= 500 && ms <= 1000)) run()
  await expect.poll(() => crm.streams.length).toBe(2)
  runTimers(100)
  expect(stream.methods()).toContain('tools/list_changed')
  expect(paramsOf(stream, 'resources/updated')).toMatchObject([{ uri: 'crm+note://1' }])
  expect(files.streams).toHaveLength(1)
  stream.close()
  await server.close()
})

test('a host that disconnects and a gateway that closes leave no stream at an upstream [SUB-009]', async () => {
  const crm = createStreaming()
  const server = createGateway({ crm })
  const [left, right] = [openStream(server, { toolsListChanged: true }), openStream(server, { toolsListChanged: true })]
  await expect.poll(() => [left, right].map((stream) => stream.methods())).toEqual([[acknowledged], [acknowledged]])
  left.close()
  await expect(left.ended).resolves.toMatchObject({ result: { resultType: 'complete' } })
  await expect.poll(() => crm.arrived.filter(({ call }) => call.signal.aborted)).toHaveLength(1)
  await server.close()
  await expect(right.ended).resolves.toMatchObject({ result: { resultType: 'complete' } })
  await expect.poll(() => crm.arrived.filter(({ call }) => call.signal.aborted)).toHaveLength(2)
})

test('a stream through a proxy ends with a result when its host stops [SUB-009 SUB-010]', async () => {
  const server = proxy(createStreaming(), { name: 'crm', version: '1.0.0' })
  const stream = openStream(server, { toolsListChanged: true })
  await expect.poll(stream.methods).toEqual([acknowledged])
  stream.close()
  const result = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } }
  await expect(stream.ended).resolves.toMatchObject({ result })
  await server.close()
})

test('the streams of a caller are counted, and a stream beyond the limit is rejected', async () => {
  const crm = createStreaming()
  const server = createGateway({ crm })
  const streams: OpenedStream[] = []
  const open = (subject: string): OpenedStream => openStream(server, {}, callOf(subject))
  let response: RpcResponse | undefined
  while (response === undefined && streams.length < 10_000) {
    const stream = open('ada')
    streams.push(stream)
    response = await Promise.race([stream.ended, expectAcknowledgement(stream)])
  }
  expect(response).toMatchObject({ error: { data: { reason: 'quota' } } })
  const other = open('grace')
  await expect.poll(other.methods).toEqual([acknowledged])
  for (const stream of [...streams, other]) stream.close()
  await server.close()
})

async function expectAcknowledgement(stream: OpenedStream): Promise<undefined> {
  await expect.poll(stream.methods, { interval: 1 }).toEqual([acknowledged])
}

test('notifications that arrive before the acknowledgement are sent after it', async () => {
  const server = createGateway({
    early: createScriptedUpstream({
      answer: ({ request: { params }, call }) => {
        const send = (method: string, more: object): void =>
          call.notify({ jsonrpc: '2.0', method: `notifications/${method}`, params: { ...more } } as RpcNotification)
        send('resources/updated', { uri: 'note://1' })
        send(acknowledged, { notifications: params?.['notifications'] })
        return new Promise(() => {})
      },
    }),
  })
  const stream = openStream(server, { resourceSubscriptions: ['early+note://1'] }, createCall())
  await expect.poll(stream.methods).toEqual([acknowledged, 'resources/updated'])
  stream.close()
  await server.close()
})

test('an upstream that hangs delays the first list of a host, hardly the next ones, and hosts learn of its late answer [GWY-007]', async () => {
  const clock = manualClock()
  const returned = createGate()
  let isHanging = false
  const server = createGateway(
    {
      crm: createScriptedUpstream({
        hasStates: true,
        answer: async ({ request }) => {
          if (isHanging) await returned.opened
          const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
          return {
            jsonrpc: '2.0',
            id: request.id,
            result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools },
          }
        },
      }),
      files: createNotes('files'),
    },
    { runtime: clock },
  )
  expect(namesIn(await resultOf(server, 'tools/list'), 'tools')).toContain('crm__echo')
  isHanging = true
  // A host reads these one after the other, and waits for little more than six seconds in all.
  for (const [method, ms] of [
    ['server/discover', 5000],
    ['tools/list', 1000],
    ['prompts/list', 100],
    ['resources/list', 100],
  ] as const) {
    const answer = resultOf(server, method)
    await expect.poll(() => clock.waiting).toBeGreaterThan(0)
    clock.advance(ms)
    expect(JSON.stringify(await answer)).not.toContain('crm')
  }
  const stream = openStream(server, { toolsListChanged: true })
  await expect.poll(stream.methods).toEqual(['subscriptions/acknowledged'])
  returned.open()
  await expect
    .poll(() => {
      clock.advance(100)
      return stream.methods()
    })
    .toContain('tools/list_changed')
  expect(namesIn(await resultOf(server, 'tools/list'), 'tools')).toContain('crm__echo')
  stream.close()
  await server.close()
})
