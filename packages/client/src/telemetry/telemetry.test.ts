import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Exchange } from '@x/exchange'
import { type JsonObject, metaKeys, type RpcRequest } from '@x/schema'
import { createServer, tool, ToolError } from '@x/server'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { createClient } from '../create-client.ts'
import { telemetry } from './index.ts'
import { createInputRequired, createSequentialExchange, nameFormRequest } from '../testing/asking.ts'
import { createTextResult, hostInfo } from '../testing/scripted-exchange.ts'
import { recordTelemetry, type TelemetryRecorder } from '@tooling/vitest/telemetry-recorder'

const canary = 'canary-of-the-client'

let recorder: TelemetryRecorder

beforeEach(() => {
  recorder = recordTelemetry()
})
afterEach(() => recorder[Symbol.dispose]())

const server = createServer({
  name: 'demo',
  version: '1.0.0',
  log: () => {},
  tools: [
    tool('greet', { description: 'Greets', run: () => 'Hello' }),
    tool('failing', {
      description: 'Fails',
      run: () => {
        throw new ToolError('No such item')
      },
    }),
  ],
})

test('a tool that has never succeeded has its name once the server has listed it, and an invented one has none', async () => {
  const client = createClient(server, { ...hostInfo, extensions: [telemetry()] })
  await client.listTools()
  await client.callTool('failing')
  await client.callTool('invented').catch(() => {})
  const names = recorder.spans().map(({ name }) => name)
  expect(names).toEqual(['tools/list', 'tools/call failing', 'call failing', 'tools/call', 'call'])
})

test('spans and metrics have the revision of the server, as soon as it is known [ROB-016]', async () => {
  let revision: '2025-06-18' | undefined
  const connection = {
    exchange: (...args: Parameters<Exchange>) => ((revision = '2025-06-18'), server.exchange(...args)),
    get peer() {
      return revision === undefined ? undefined : { revision, namesCalls: true }
    },
  }
  await createClient(connection, { ...hostInfo, extensions: [telemetry()] }).callTool('greet')
  const recorded = [...recorder.spans(), ...(await recorder.points())]
  expect(recorded.map(({ attributes }) => attributes['mcp.protocol.version'])).toEqual(Array(3).fill('2025-06-18'))
})

test('a call has a span, with a span for each request, whose trace context is sent', async () => {
  const requests: RpcRequest[] = []
  const exchange: Exchange = (request, call) => (requests.push(request), server.exchange(request, call))
  const client = createClient(
    { exchange, url: 'https://tools.example/mcp' },
    { ...hostInfo, extensions: [telemetry()] },
  )
  await client.callTool('greet')
  const [request, call] = recorder.spans() as [ReadableSpan, ReadableSpan]
  expect([request.name, request.kind, call.name, call.kind]).toEqual([
    'tools/call greet',
    SpanKind.CLIENT,
    'call greet',
    SpanKind.INTERNAL,
  ])
  expect(request.parentSpanContext?.spanId).toBe(call.spanContext().spanId)
  expect(request.attributes).toEqual({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'greet',
    'gen_ai.operation.name': 'execute_tool',
    'mcp.protocol.version': '2026-07-28',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'server.address': 'tools.example',
    'server.port': 443,
    'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
  })
  const sent = requests[0]?.params?.['_meta'] as JsonObject
  const { traceId, spanId } = request.spanContext()
  expect(sent['traceparent']).toBe(`00-${traceId}-${spanId}-01`)
  expect(sent[metaKeys.protocolVersion]).toBe('2026-07-28')
  expect(await recorder.points()).toMatchObject([
    {
      name: 'mcp.client.operation.duration',
      attributes: { 'gen_ai.tool.name': 'greet', 'server.port': 443 },
      value: 1,
    },
  ])
})

test('a call is a child of the ambient span, with all its rounds', async () => {
  const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'), createTextResult('Hi'))
  const elicit = async () => ({ action: 'accept', content: { name: 'Ada' } }) as const
  const client = createClient(exchange, { ...hostInfo, elicit, extensions: [telemetry()] })
  await trace.getTracer('test').startActiveSpan('agent', async (agent) => {
    await client.callTool('greet')
    const [first, second, call] = recorder.spans()
    expect(call?.parentSpanContext?.spanId).toBe(agent.spanContext().spanId)
    const parents = [first, second].map((span) => span?.parentSpanContext?.spanId)
    expect(parents).toEqual([call?.spanContext().spanId, call?.spanContext().spanId])
  })
})

test.each<[string, string, string]>([
  ['an error of the server', 'invented', '-32602'],
  ['a result with isError', 'failing', 'tool_error'],
])('%s is an error of the request and of the call', async (_, name, errorType) => {
  const client = createClient(server, { ...hostInfo, extensions: [telemetry()] })
  await client.callTool(name).catch(() => {})
  const spans = recorder.spans().map(({ status, attributes }) => [status.code, attributes['error.type']])
  expect(spans).toEqual([
    [SpanStatusCode.ERROR, errorType],
    [SpanStatusCode.ERROR, errorType],
  ])
})

test('a cancelled call is an error of the client', async () => {
  const controller = new AbortController()
  const exchange: Exchange = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      controller.abort(new Error('left'))
    })
  const client = createClient(exchange, { ...hostInfo, extensions: [telemetry()] })
  await client.callTool('greet', {}, { signal: controller.signal }).catch(() => {})
  await expect.poll(() => recorder.spans().length).toBe(2)
  expect(recorder.spans().map(({ attributes }) => attributes['error.type'])).toEqual(['cancelled', 'cancelled'])
})

test('invented names make one metric stream, and no argument, answer, result or token is recorded [OPS-001 OPS-002]', async () => {
  const elicit = async () => ({ action: 'accept', content: { name: canary } }) as const
  const options = { meta: { secret: canary } }
  const client = createClient(server, { ...hostInfo, elicit, extensions: [telemetry()] })
  for (let index = 0; index < 600; index++) await client.callTool(`${canary}-${index}`, {}, options).catch(() => {})
  const asking = createSequentialExchange(
    createInputRequired({ who: nameFormRequest }, canary),
    createTextResult(canary),
  )
  await createClient(asking, { ...hostInfo, elicit, extensions: [telemetry()] }).callTool(
    'greet',
    { secret: canary },
    options,
  )
  const points = await recorder.points()
  expect(points.length).toBeLessThanOrEqual(10)
  const spans = recorder.spans().map(({ name, attributes, status, events }) => ({ name, attributes, status, events }))
  expect(JSON.stringify([points, spans])).not.toContain(canary)
})
