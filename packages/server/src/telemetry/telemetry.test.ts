import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import {
  clientSessionKey,
  type ContextKey,
  createCall,
  olderRequestKey,
  taskAttemptKey,
  transportKey,
  withContext,
} from '@x/exchange'
import { type JsonObject, McpError } from '@x/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { randomKey, sealedState } from '@x/state-codec'
import * as z from 'zod'
import { createServer, prompt, type ServerDefinition, tool, ToolError } from '../index.ts'
import { observeTasks, telemetry } from '../otel.ts'
import { callOf, callTool, errorOf, requestOf, resultOf, sendRequest } from '../testing/ask.ts'
import { recordTelemetry, type TelemetryRecorder } from '@tooling/vitest/telemetry-recorder'

const canary = 'canary-of-the-server'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`
const meta = { traceparent }

const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
const ask = tool('ask', {
  description: 'Asks',
  input: z.object({ secret: z.string().optional() }),
  run: async (_args, ctx) => {
    const { name } = await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) })
    await ctx.step('save', () => canary)
    return `Hello, ${name}`
  },
})
const failing = tool('failing', {
  description: 'Fails',
  run: () => {
    throw new ToolError('No such item')
  },
})
const rejecting = tool('rejecting', {
  description: 'Rejects',
  run: () => {
    throw new McpError(4001, 'Not now')
  },
})
const review = prompt('review', { run: () => 'Review' })

function serve(definition: Partial<ServerDefinition> = {}) {
  return createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [greet, ask, failing, rejecting],
    prompts: [review],
    state: sealedState({ keys: [randomKey()] }),
    strictReplay: false,
    log: () => {},
    ...definition,
    extensions: [telemetry(), ...(definition.extensions ?? [])],
  })
}

let recorder: TelemetryRecorder

beforeEach(() => {
  recorder = recordTelemetry()
})
afterEach(() => recorder[Symbol.dispose]())

const lastSpan = () => {
  const span = recorder.spans().at(-1)
  if (span === undefined) throw new Error('No span was recorded')
  return span
}

describe('The span of a request', () => {
  test('has the digest of the session of an older client, and no session for others [OPS-001 OPS-006]', async () => {
    const { context } = withContext(createCall(), clientSessionKey, 'digest-of-a-session')
    await callTool(serve(), 'greet', {}, { context })
    expect(lastSpan().attributes['mcp.session.id']).toBe('digest-of-a-session')
    await callTool(serve(), 'greet')
    expect(lastSpan().attributes).not.toHaveProperty(['mcp.session.id'])
  })

  test.each([
    [olderRequestKey, { revision: '2025-03-26' }, 'tools/call', '2025-03-26'],
    [olderRequestKey, { revision: '2025-03-26', method: 'initialize' }, 'initialize', '2025-03-26'],
    [transportKey, 'http', 'tools/call', '2026-07-28'],
  ] as const)('has the revision that its client negotiated: %o %o [ROB-016]', async (key, value, method, revision) => {
    // The cast joins the two types of keys, each of which has its own type of value.
    const { context } = withContext(createCall(), key as ContextKey<unknown>, value)
    await callTool(serve(), 'greet', {}, { context })
    const [duration] = (await recorder.points()).filter(({ name }) => name === 'mcp.server.operation.duration')
    const expected = { 'mcp.method.name': method, 'mcp.protocol.version': revision }
    expect([lastSpan().name, lastSpan().attributes, duration?.attributes]).toMatchObject([
      `${method} greet`,
      expected,
      expected,
    ])
  })

  test('of an attempt of a task has no revision, and is not in the duration of requests [ROB-015 ROB-016]', async () => {
    const { context } = withContext(createCall(), taskAttemptKey, { taskDigest: 'a1b2', attempt: 2 })
    await callTool(serve(), 'greet', {}, { context })
    expect(lastSpan().attributes).toMatchObject({ 'dev.x.task.attempt': 2 })
    expect(lastSpan().attributes).not.toHaveProperty(['mcp.protocol.version'])
    expect((await recorder.points()).map(({ name }) => name)).not.toContain('mcp.server.operation.duration')
  })

  test('has the trace of its caller as parent, and the attributes of the conventions', async () => {
    const { context } = withContext(createCall(), transportKey, 'http')
    await callTool(serve(), 'greet', {}, { id: 'seven', meta, context, clientAddress: '192.0.2.1' })
    const { name, kind, attributes, status } = lastSpan()
    expect([name, kind, status.code]).toEqual(['tools/call greet', SpanKind.SERVER, SpanStatusCode.UNSET])
    expect(lastSpan().spanContext().traceId).toBe(traceId)
    expect(lastSpan().parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    expect(attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'greet',
      'gen_ai.operation.name': 'execute_tool',
      'mcp.protocol.version': '2026-07-28',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'jsonrpc.request.id': 'seven',
      'client.address': '192.0.2.1',
      'dev.x.run.end': 'finished',
    })
  })

  test('has the name of a prompt, and no name that the server does not have [OPS-002]', async () => {
    const server = serve()
    await resultOf(server, 'prompts/get', { name: 'review' })
    await errorOf(server, 'tools/call', { name: 'invented' })
    await errorOf(server, 'com.example/invented')
    expect(recorder.spans().map(({ name }) => name)).toEqual(['prompts/get review', 'tools/call', '_OTHER'])
  })

  test('is linked to the ambient span, and is not a child of an untrusted caller', async () => {
    const untrusting = createServer({
      name: 'demo',
      version: '1',
      tools: [greet],
      extensions: [telemetry({ isTrusted: () => false })],
    })
    await trace.getTracer('test').startActiveSpan('ambient', async (ambient) => {
      await callTool(serve(), 'greet', {}, { meta })
      expect(lastSpan().links[0]?.context.spanId).toBe(ambient.spanContext().spanId)
      await callTool(untrusting, 'greet', {}, { meta })
      expect(lastSpan().parentSpanContext?.spanId).toBe(ambient.spanContext().spanId)
      expect(lastSpan().links[0]?.context.traceId).toBe(traceId)
    })
  })

  test.each<[string, string, JsonObject, object]>([
    [
      'invalid params',
      'tools/call',
      { name: 'invented' },
      { code: SpanStatusCode.UNSET, status: '-32602', type: undefined },
    ],
    ['a lack', 'tools/call', { name: 'ask' }, { code: SpanStatusCode.UNSET, status: '-32021', type: undefined }],
    ['an unknown method', 'com.example/none', {}, { code: SpanStatusCode.UNSET, status: '-32601', type: undefined }],
    [
      'another error code',
      'tools/call',
      { name: 'rejecting' },
      { code: SpanStatusCode.ERROR, status: '4001', type: '4001' },
    ],
    [
      'a result with isError',
      'tools/call',
      { name: 'failing' },
      { code: SpanStatusCode.ERROR, status: undefined, type: 'tool_error' },
    ],
  ])('shows %s [OPS-007]', async (_, method, params, expected) => {
    await sendRequest(serve(), method, params)
    const { attributes, status } = lastSpan()
    expect({
      code: status.code,
      status: attributes['rpc.response.status_code'],
      type: attributes['error.type'],
    }).toEqual(expected)
  })

  test('of a cancelled request is not an error', async () => {
    const waiting = tool('waiting', { description: 'Waits', run: () => new Promise<string>(() => {}) })
    const controller = new AbortController()
    const call = callOf({ signal: controller.signal })
    const server = serve({
      tools: [tool('left', { description: 'Left', run: (_, ctx) => untilAborted(ctx.signal) }), waiting],
    })
    const response = server.exchange(requestOf('tools/call', { name: 'left' }), call)
    controller.abort(new Error('left'))
    await response.catch(() => {})
    expect(lastSpan().status.code).toBe(SpanStatusCode.UNSET)
    expect(lastSpan().attributes['dev.x.run.end']).toBe('cancelled')
  })

  test('of a stream ends with the acknowledgement, and is in no histogram', async () => {
    const server = serve()
    const filter = { notifications: { toolsListChanged: true } }
    const stream = server.exchange(requestOf('subscriptions/listen', filter), callOf())
    await expect.poll(() => recorder.spans().length).toBe(1)
    expect(lastSpan().name).toBe('subscriptions/listen')
    await server.close()
    await stream
    expect((await recorder.points()).map(({ name, value }) => [name, value])).toEqual([['dev.x.server.streams', 0]])
  })
})

describe('A call that asks', () => {
  test('has a span for each round, linked by the state, and a span for each step', async () => {
    const server = serve()
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
    const asked = await resultOf(server, 'tools/call', { name: 'ask', arguments: {} }, { meta: capabilities })
    const params = {
      name: 'ask',
      arguments: {},
      requestState: asked['requestState'] ?? null,
      inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } },
    }
    await resultOf(server, 'tools/call', params, { meta: capabilities })
    const [first, step, second] = recorder.spans() as [ReadableSpan, ReadableSpan, ReadableSpan]
    expect([first.attributes['dev.x.run.end'], second.attributes['dev.x.run.end']]).toEqual(['asked', 'finished'])
    expect(second.links.map(({ context }) => context.spanId)).toEqual([first.spanContext().spanId])
    expect([step.name, step.attributes, step.parentSpanContext?.spanId]).toEqual([
      'step',
      { 'dev.x.step.key': 'save' },
      second.spanContext().spanId,
    ])
    expect(first.attributes).toMatchObject({ 'dev.x.run.questions': 1, 'dev.x.state.size': expect.any(Number) })
    expect(second.attributes).toMatchObject({ 'dev.x.run.round': 1, 'dev.x.run.steps': 1 })
    const points = await recorder.points()
    const counted = points.filter(({ name }) => /questions|answers|rounds|runs$/.test(name))
    expect(counted.map(({ name, attributes, value }) => [name, attributes, value])).toEqual(
      expect.arrayContaining([
        ['dev.x.server.questions', { 'dev.x.question.kind': 'elicitation/create' }, 1],
        ['dev.x.server.answers', { 'dev.x.question.kind': 'elicitation/create', 'dev.x.answer.action': 'accept' }, 1],
        ['dev.x.server.runs', { 'gen_ai.tool.name': 'ask', 'dev.x.run.end': 'asked' }, 1],
        ['dev.x.server.runs', { 'gen_ai.tool.name': 'ask', 'dev.x.run.end': 'finished' }, 1],
        ['dev.x.server.call.rounds', { 'gen_ai.tool.name': 'ask' }, 1],
      ]),
    )
  })

  test('leaves no argument, answer, result, state or token in a span or metric [OPS-001]', async () => {
    const server = serve()
    const principal = { subject: 'ada', claims: { token: canary } }
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
    const options = { meta: { ...capabilities, secret: canary, baggage: `user=${canary}` }, principal }
    const args = { name: 'ask', arguments: { secret: canary } }
    const asked = await resultOf(server, 'tools/call', args, options)
    const inputResponses = { name: { action: 'accept', content: { name: canary } } }
    const requestState = String(asked['requestState'])
    await resultOf(server, 'tools/call', { ...args, requestState, inputResponses }, options)
    await errorOf(server, 'tools/call', { ...args, requestState: `${canary}${requestState}`, inputResponses }, options)
    await errorOf(server, 'tools/call', { name: canary }, options)
    await errorOf(server, `com.example/${canary}`, {}, options)
    const recorded = recorder
      .spans()
      .map(({ name, attributes, events, links, status }) => ({ name, attributes, events, links, status }))
    const text = JSON.stringify([recorded, await recorder.points()])
    expect(recorder.spans()).toHaveLength(6)
    expect(text).not.toContain(canary)
    expect(text).not.toContain(requestState.slice(0, 40))
  })
})

test('a request whose _meta is invalid is rejected by the server, and has a span', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet', _meta: 'text' } } as const
  const response = await serve().exchange(request, createCall())
  expect(response).toMatchObject({ error: { code: -32602 } })
  expect(recorder.spans().map(({ name, status }) => [name, status.code])).toEqual([
    ['tools/call greet', SpanStatusCode.UNSET],
  ])
})

test('600 invented names make at most 10 metric streams [OPS-002]', async () => {
  const server = serve()
  for (let index = 0; index < 200; index++) {
    await sendRequest(server, 'tools/call', { name: `invented-${index}` })
    await sendRequest(server, 'prompts/get', { name: `invented-${index}` })
    await sendRequest(server, `com.example/invented-${index}`)
  }
  expect((await recorder.points()).length).toBeLessThanOrEqual(10)
})

test('a caller that is not sampled records no span, and metrics', async () => {
  recorder[Symbol.dispose]()
  recorder = recordTelemetry(new AlwaysOffSampler())
  await callTool(serve(), 'greet')
  expect(recorder.spans()).toEqual([])
  expect((await recorder.points()).map(({ name }) => name).toSorted()).toEqual([
    'dev.x.server.call.rounds',
    'dev.x.server.runs',
    'mcp.server.operation.duration',
  ])
})

test('tasks of a store are counted by tool and status', async () => {
  const count = { tool: 'index', count: 2, oldestAgeMs: 4000 }
  const counts = async () => [
    { ...count, status: 'working' },
    { ...count, status: 'working', oldestAgeMs: 9000 },
  ]
  const stop = observeTasks({ counts })
  const attributes = { 'gen_ai.tool.name': 'index', 'dev.x.task.status': 'working' }
  expect(await recorder.points()).toEqual([
    { name: 'dev.x.tasks.count', attributes, value: 4 },
    { name: 'dev.x.tasks.oldest.age', attributes, value: 9 },
  ])
  stop()
})

function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
