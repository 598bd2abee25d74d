import { recordTelemetry, type TelemetryRecorder } from '@tooling/vitest/telemetry-recorder'
import type { LogRecord } from '@x/core'
import { createCall } from '@x/exchange'
import { isJsonObject, type RpcResponse } from '@x/schema'
import { createServer, tool } from '@x/server'
import { telemetry } from '@x/server/otel'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { proxy } from '../index.ts'
import { createGateway, createNotes, errorOf, openStream, resultOf } from '../testing/gateway-kit.ts'
import {
  answerPlainly,
  type ArrivedRequest,
  createRequest,
  createScriptedUpstream,
  olderOverHttp,
} from '../testing/scripted-upstream.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const hostSpan = 'b7ad6b7169203331'
const meta = { traceparent: `00-${traceId}-${hostSpan}-01`, tracestate: 'vendor=1' }

let recorder: TelemetryRecorder
beforeEach(() => {
  recorder = recordTelemetry()
})
afterEach(() => recorder[Symbol.dispose]())

const kinds = ['INTERNAL', 'SERVER', 'CLIENT']

/** The spans as a tree, from the span of the host: the name, the kind and the upstream of each. */
function treeOf(parent = hostSpan): unknown[] {
  const children = recorder.spans().filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
  return children.map((span) => {
    const { 'dev.x.upstream': upstream = '' } = span.attributes
    return [`${kinds[span.kind]} ${span.name} ${upstream}`.trim(), ...treeOf(span.spanContext().spanId)]
  })
}

const traced = { extensions: [telemetry()] }
const add = tool('add', { description: 'Adds', run: () => 'added' })
const createTraced = () => createServer({ name: 'crm', version: '1.0.0', tools: [add], ...traced, log: () => {} })

test('the span of a call has one span for its hop below it, and that of the upstream below the hop [OPS-003]', async () => {
  await using server = createGateway({ crm: createTraced(), notes: createNotes('notes') }, traced)
  await resultOf(server, 'tools/call', { name: 'crm__add', _meta: meta })
  expect(treeOf()).toEqual([
    ['SERVER tools/call crm__add crm', ['CLIENT tools/call add crm', ['SERVER tools/call add']]],
  ])
  expect(recorder.spans().every(({ links }) => links.length === 0)).toBe(true)
})

test('a list has a span for each upstream, and names none itself', async () => {
  await using server = createGateway({ crm: createTraced(), notes: createNotes('notes') }, traced)
  await resultOf(server, 'tools/list', { _meta: meta })
  expect(treeOf()).toEqual([
    ['SERVER tools/list', ['CLIENT tools/list crm', ['SERVER tools/list']], ['CLIENT tools/list notes']],
  ])
})

/** Answers a call of a tool, or a task, as a server elsewhere does. */
const answer = async ({ request: { id, method, params } }: ArrivedRequest): Promise<RpcResponse> => {
  const isTask = params?.['name'] === 'slow'
  const task = { resultType: 'task', taskId: 't1', status: 'working', ttlMs: null, createdAt: '2026-01-01T00:00:00Z' }
  if (method === 'tools/call' && isTask) return { jsonrpc: '2.0', id, result: task }
  if (method === 'tasks/get') return { jsonrpc: '2.0', id, result: { ...task, resultType: 'complete' } }
  if (params?.['name'] === 'invented')
    return { jsonrpc: '2.0', id, error: { code: -32602, message: 'Unknown tool "invented"' } }
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] } }
}

test.each([
  ['of this revision', undefined],
  ['of an older revision', olderOverHttp],
])('an upstream %s receives the context of the hop, in place of that of the host', async (_, peer) => {
  const upstream = createScriptedUpstream({ answer, ...(peer && { peer }) })
  await using server = createGateway({ crm: upstream }, traced)
  await resultOf(server, 'tools/call', { name: 'crm__add', _meta: meta })
  const hop = recorder.spans().find(({ kind }) => kinds[kind] === 'CLIENT')
  const received = upstream.arrived.find(({ request }) => request.method === 'tools/call')?.request.params?.['_meta']
  expect(isJsonObject(received) && received['traceparent']).toBe(`00-${traceId}-${hop?.spanContext().spanId}-01`)
  expect(isJsonObject(received) && received['tracestate']).toBe('vendor=1')
  expect(hop?.attributes).not.toHaveProperty('mcp.protocol.version')
})

test('tasks are counted by their method, and by the upstream that has them', async () => {
  await using server = createGateway({ crm: createScriptedUpstream({ answer }) }, traced)
  const { taskId } = await resultOf(server, 'tools/call', { name: 'crm__slow' })
  await resultOf(server, 'tasks/get', { taskId })
  const points = await recorder.points()
  const found = points.map(
    ({ name, attributes }) => `${name} ${attributes['mcp.method.name']} ${attributes['dev.x.upstream']}`,
  )
  expect(found).toEqual(
    expect.arrayContaining([
      'mcp.server.operation.duration tasks/get crm',
      'mcp.client.operation.duration tasks/get crm',
    ]),
  )
})

test('a proxy names its tools and the methods of extensions too', async () => {
  await using server = proxy(createScriptedUpstream({ answer }), {
    name: 'crm',
    version: '1.0.0',
    log: () => {},
    ...traced,
  })
  await resultOf(server, 'tools/call', { name: 'add', _meta: meta })
  await resultOf(server, 'tasks/get', { taskId: 't1', _meta: meta })
  expect(treeOf()).toEqual([
    ['SERVER tools/call add crm', ['CLIENT tools/call add crm']],
    ['SERVER tasks/get crm', ['CLIENT tasks/get crm']],
  ])
})

test('a name that the upstream does not serve names no span and no metric [OPS-002]', async () => {
  await using server = createGateway({ crm: createScriptedUpstream({ answer }) }, traced)
  for (const name of ['crm__invented', 'crm__add', 'crm__invented'])
    await server.exchange(createRequest('tools/call', { name }), createCall())
  const attributes = [...recorder.spans(), ...(await recorder.points())].map((each) => JSON.stringify(each.attributes))
  expect(attributes.join()).toContain('"gen_ai.tool.name":"crm__add"')
  expect(attributes.join()).not.toContain('invented')
})

test('the spans of a stream end with its acknowledgement', async () => {
  await using server = createGateway({ crm: createTraced() }, traced)
  const stream = openStream(server, { toolsListChanged: true })
  await expect.poll(() => recorder.spans().map(({ name }) => name)).toEqual(Array(3).fill('subscriptions/listen'))
  stream.close()
  await stream.ended.catch(() => {})
  expect(recorder.spans()).toHaveLength(3)
})

test('an outage of ten minutes is three lines of the log, however often the upstream is asked', async () => {
  const records: LogRecord[] = []
  const state = { now: 0, isAway: true }
  const crm = createScriptedUpstream({
    answer: ({ request, call }) =>
      state.isAway ? Promise.reject(new Error('ECONNREFUSED')) : answerPlainly(request, call),
  })
  const server = createGateway(
    { crm: { ...crm, required: true } },
    { log: (record) => void records.push(record), runtime: { monotonicNow: () => state.now } },
  )
  for (; state.now < 600_000; state.now += 2000) {
    expect(await server.ready()).toBe(false)
    await errorOf(server, 'tools/call', { name: 'crm__add' })
  }
  state.isAway = false
  expect(await server.ready()).toBe(true)
  const probes = crm.arrived.length
  expect(probes).toBeGreaterThan(250)
  // The description that this upstream gives is none.
  const lines = records.filter(({ level, code }) => level !== 'debug' && code !== 'invalid_result')
  expect(lines.map(({ level, code, name, message }) => [level, code, name, message])).toEqual([
    ['error', undefined, 'crm', 'Error: ECONNREFUSED'],
    ['warn', 'upstream_away', 'crm', 'Upstream "crm" is unreachable. Calls are refused until it answers'],
    ['info', 'upstream_back', 'crm', expect.stringMatching(/^It answers again, after 59\d s$/)],
  ])
  await server.close()
})
