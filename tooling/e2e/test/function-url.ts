import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { LambdaContext, LambdaEvent, LambdaResult } from '@x/transport-http/lambda'
import { vi } from 'vitest'
import { listenLocally } from './listen-locally.ts'

/** The time limit of an invocation, in milliseconds. */
const limitMs = 1200

/** Invokes a Lambda handler and writes its result to the response. */
export type Invoke = (event: LambdaEvent, context: LambdaContext, response: ServerResponse) => Promise<void>

/** The endpoint of a Lambda function. */
export interface FunctionUrl extends AsyncDisposable {
  readonly url: string
  readonly invocationCount: number
}

/**
 * Runs the timers of the test, the server and the invocations on one fake clock, which advances by 20 ms whenever 20 ms of
 * real time have passed. On a busy machine it falls behind, and timers still fire in their order.
 */
export function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true })
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Serves a function like a Function URL. An invocation that runs for longer than `limitMs` is stopped with 502. */
export async function serveFunctionUrl(invoke: Invoke): Promise<FunctionUrl> {
  let invocationCount = 0
  const server = createServer(async (request, response) => {
    invocationCount += 1
    const endsAt = performance.now() + limitMs
    const context = { getRemainingTimeInMillis: () => endsAt - performance.now() }
    const stopping = wait(limitMs).then(() => {
      if (response.writableEnded) return
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    await Promise.race([invoke(await toEvent(request), context, response), stopping])
  })
  const url = `http://127.0.0.1:${await listenLocally(server)}/mcp`
  return {
    url,
    get invocationCount() {
      return invocationCount
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function toEvent(request: IncomingMessage): Promise<LambdaEvent> {
  const [rawPath = '/', rawQueryString = ''] = (request.url ?? '/').split('?')
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const body = await buffer(request)
  return {
    rawPath,
    rawQueryString,
    headers,
    requestContext: { domainName: '127.0.0.1', http: { method: request.method ?? 'GET', sourceIp: '192.0.2.7' } },
    ...(body.length > 0 && { body: body.toString('base64'), isBase64Encoded: true }),
  }
}

/** Sends a result, unless the invocation was stopped. */
export function sendResult(response: ServerResponse, { statusCode, headers, body }: LambdaResult): void {
  if (!response.headersSent) response.writeHead(statusCode, headers).end(body)
}

/** Stubs the `awslambda` global of the runtime with the response of Node. */
export function stubRuntime(): void {
  vi.stubGlobal('awslambda', {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from: (stream: ServerResponse, { statusCode, headers }: Omit<LambdaResult, 'body'>) =>
        stream.writeHead(statusCode, headers),
    },
  })
}
