import { createClient } from '@x/client'
import { clientAddressKey } from '@x/exchange'
import { createServer, type McpServer, sealedState, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { connectHttp } from '@x/transport-http/client'
import { type LambdaEvent, lambdaHandler, lambdaStream } from '@x/transport-http/lambda'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { keys } from './asking.ts'
import { type Invoke, sendResult, serveFunctionUrl, stubRuntime, useFakeClock, wait } from './function-url.ts'

const defaultStepMs = 150

beforeEach(useFakeClock)

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Creates a server whose tool runs for longer than an invocation may last. */
function createSlowServer() {
  const steps: string[] = []
  const work = tool('work', {
    description: 'Works for a while',
    input: z.object({ steps: z.number(), stepMs: z.number().default(defaultStepMs) }),
    async run({ steps: count, stepMs }, ctx) {
      for (let index = 0; index < count; index += 1) {
        await ctx.step(`step-${index}`, async () => {
          await wait(stepMs)
          steps.push(`step-${index}`)
        })
        ctx.progress(index + 1, count)
      }
      return `${count} steps`
    },
  })
  const address = tool('address', {
    description: 'Returns the address of the caller',
    run: (_, ctx) => ctx.context.get(clientAddressKey) ?? 'none',
  })
  const state = sealedState({ keys: [keys.first] })
  const server = createServer({ name: 'lambda', version: '1.0.0', state, tools: [work, address] })
  return { server, steps }
}

function invokeBuffered(server: McpServer): Invoke {
  const handler = lambdaHandler(server)
  return async (event, context, response) => sendResult(response, await handler(event, context))
}

function invokeStreamed(server: McpServer): Invoke {
  stubRuntime()
  const handler = lambdaStream(server)
  return (event, context, response) => handler(event, response, context)
}

const host = { name: 'host', version: '1.0.0' }

describe.each([
  ['whose response is sent as a whole', invokeBuffered],
  ['whose response is streamed', invokeStreamed],
])('a function %s', (_, invoke) => {
  test('completes a call that is longer than its time limit, runs each step once, and serves the next invocation [OPS-009]', async () => {
    const { server, steps } = createSlowServer()
    await using endpoint = await serveFunctionUrl(invoke(server))
    await using client = createClient(connectHttp(endpoint.url), host)
    const { content } = await client.callTool('work', { steps: 10 })
    expect(content).toMatchObject([{ text: '10 steps' }])
    expect(steps).toEqual(Array.from({ length: 10 }, (_unused, index) => `step-${index}`))
    expect(endpoint.invocationCount).toBeGreaterThan(1)
    expect(server.load.draining).toBe(false)
    expect((await client.callTool('work', { steps: 1 })).content).toMatchObject([{ text: '1 steps' }])
    // Lambda says who calls.
    expect((await client.callTool('address')).content).toMatchObject([{ text: '192.0.2.7' }])
    await server.close()
  })

  test('ends a stream of changes before its time limit', async () => {
    const { server } = createSlowServer()
    await using endpoint = await serveFunctionUrl(invoke(server))
    const response = await fetch(endpoint.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': host,
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    // Reading a stream rejects if Lambda stops the invocation.
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('acknowledged')])
    await server.close()
  })
})

test('a call that is longer than the time limit fails if the server is not drained', async () => {
  const { server } = createSlowServer()
  const handle = httpHandler(server)
  await using endpoint = await serveFunctionUrl(async (event, _context, response) => {
    const { rawPath, headers, requestContext, body = '' } = event
    const request = new Request(`http://127.0.0.1${rawPath}`, {
      method: requestContext.http.method,
      headers: headers as Record<string, string>,
      body: Buffer.from(body, 'base64'),
    })
    const answer = await handle(request)
    sendResult(response, {
      statusCode: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    })
  })
  await using client = createClient(connectHttp(endpoint.url), host)
  // In a single step, because an overloaded machine would hand the call off at the end of a short one.
  await expect(client.callTool('work', { steps: 1, stepMs: 1500 })).rejects.toThrow('502')
  await server.close()
})

describe('an event', () => {
  const context = { getRemainingTimeInMillis: () => 5000 }
  const { server } = createSlowServer()

  test.each([
    ['of the payload format 1.0', { path: '/mcp', httpMethod: 'POST', headers: {}, requestContext: {} }],
    ['of a queue', { Records: [] }],
  ])('%s is rejected, and the error names the required format', async (_, event) => {
    const handler = lambdaHandler(server)
    await expect(handler(event as unknown as LambdaEvent, context)).rejects.toThrow('the payload format 2.0')
  })

  test.each([
    ['/', 405],
    ['/mcp', 405],
  ])('of a GET of %s is answered with %d', async (rawPath, status) => {
    const requestContext = { domainName: 'localhost', http: { method: 'GET' } }
    const result = await lambdaHandler(server)({ rawPath, headers: {}, requestContext }, context)
    expect(result.statusCode).toBe(status)
  })

  test.each([
    ['host', { headers: { host: 'a b' } }],
    ['method', { requestContext: { domainName: 'localhost', http: { method: 'TRACE' } } }],
    ['header', { headers: { 'mcp-name': '\u20ac' } }],
  ])('with a malformed %s is answered with 400, and the function does not fail', async (_, part) => {
    const requestContext = { domainName: 'localhost', http: { method: 'POST' } }
    const event = { rawPath: '/mcp', headers: {}, requestContext, body: '{}', ...part }
    const { statusCode, body } = await lambdaHandler(server)(event, context)
    expect([statusCode, JSON.parse(body)]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('malformed') } },
    ])
  })

  test('with a foreign host is rejected', async () => {
    const requestContext = { domainName: 'evil.example', http: { method: 'POST' } }
    const result = await lambdaHandler(server, { allowedHosts: ['mcp.example.com'] })(
      { rawPath: '/mcp', headers: { host: 'evil.example' }, requestContext, body: '{}' },
      context,
    )
    expect(result.statusCode).toBe(403)
  })
})

test('lambdaStream names the required runtime if it is created elsewhere', () => {
  expect(() => lambdaStream(createSlowServer().server)).toThrow('runs on the Node runtime of Lambda only')
})
