import { platformRuntime } from '@x/core'
import type { Server } from '@x/exchange'
import { type FetchHandler, httpHandler, type HttpHandlerOptions } from '../server/http-handler.ts'
import { createErrorAnswer } from '../server/reply.ts'
import { createWebResponse } from '../server/web-response-writer.ts'
import { type LambdaContext, type LambdaEvent, type LambdaResult, toWebRequest } from './lambda-event.ts'

/** Options of the handlers for Lambda. `clientAddress` defaults to the address that Lambda reports. */
export type LambdaOptions = HttpHandlerOptions

/** For a function whose response is sent as a whole. */
export type LambdaHandler = (event: LambdaEvent, context: LambdaContext) => Promise<LambdaResult>

/** For a function whose response is streamed, as `awslambda.streamifyResponse` of the runtime returns it. */
export type LambdaStreamHandler = (event: LambdaEvent, stream: unknown, context: LambdaContext) => Promise<void>

/**
 * Makes a server the handler of a Lambda function with a Function URL or an HTTP API. Each response is sent as a whole,
 * so clients receive the progress of a call together with its result. Define the server with `subscriptions: false`: a
 * stream of changes would last until the time limit of the function.
 *
 * Near the time limit of an invocation the server hands running calls off, and the client repeats them in a new
 * invocation, in which completed steps do not run again.
 *
 * @example
 * export const handler = lambdaHandler(server, { allowedHosts: ['mcp.example.com'] })
 *
 * @throws TypeError or RangeError for invalid options.
 */
export function lambdaHandler(server: Server, options: LambdaOptions = {}): LambdaHandler {
  const handle = createEventHandler(server, options)
  return (event, context) =>
    handle(event, context, async ({ status, headers, body }) => {
      const text = await new Response(body).text()
      return { statusCode: status, headers: Object.fromEntries(headers), body: text }
    })
}

/**
 * Makes a server the handler of a Lambda function with a Function URL in the invoke mode `RESPONSE_STREAM`. Works like
 * {@link lambdaHandler}, but sends progress while a call runs. Throws `Error` outside of the Node runtime of Lambda.
 *
 * @example
 * export const handler = lambdaStream(server, { allowedHosts: ['mcp.example.com'] })
 */
export function lambdaStream(server: Server, options: LambdaOptions = {}): LambdaStreamHandler {
  // Global of Lambda's Node runtime (https://docs.aws.amazon.com/lambda/latest/dg/response-streaming.html).
  const { awslambda: runtime } = globalThis as {
    readonly awslambda?: {
      streamifyResponse(handler: LambdaStreamHandler): LambdaStreamHandler
      readonly HttpResponseStream: { from(stream: unknown, head: Omit<LambdaResult, 'body'>): BodyStream }
    }
  }
  if (runtime === undefined)
    throw new Error('`awslambda` is missing: lambdaStream runs on the Node runtime of Lambda only')
  const handle = createEventHandler(server, options)
  return runtime.streamifyResponse((event, stream, context) =>
    handle(event, context, ({ status, headers, body }) => {
      const head = { statusCode: status, headers: Object.fromEntries(headers) }
      return sendBody(body, runtime.HttpResponseStream.from(stream, head))
    }),
  )
}

interface BodyStream {
  write(chunk: Uint8Array): boolean
  end(): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
}

async function sendBody(body: ReadableStream<Uint8Array> | null, stream: BodyStream): Promise<void> {
  let isClosed = false
  stream.once('close', () => (isClosed = true))
  const reader = body?.getReader()
  for (let chunk = await reader?.read(); chunk !== undefined && !chunk.done; chunk = await reader?.read()) {
    if (isClosed) return reader?.cancel()
    if (!stream.write(chunk.value)) await waitForRoom(stream)
  }
  // Lambda's runtime sends the head with the first write, so a response without a body needs one too.
  if (body === null) stream.write(new Uint8Array())
  stream.end()
}

function waitForRoom(stream: BodyStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve)
    stream.once('close', resolve)
  })
}

/** Milliseconds at the end of an invocation in which running calls are handed off. A short invocation has a third. */
const maxReserveMs = 1500

/**
 * Share of the reserve in which calls may end by themselves. They are then aborted with an error, which the client
 * would not receive if Lambda stopped the invocation.
 */
const graceShare = 0.6

/** Share of the reserve after which streams are closed. What remains is for sending the responses. */
const closeShare = 0.8

const malformedRequest = { status: 400, message: 'The host, the method or a header of the request is malformed' }

type EventHandler = <T>(
  event: LambdaEvent,
  context: LambdaContext,
  send: (response: Response) => Promise<T>,
) => Promise<T>

function createEventHandler(server: Server, options: LambdaOptions): EventHandler {
  const addresses = new WeakMap<Request, string>()
  const handle: FetchHandler = httpHandler(server, {
    clientAddress: ({ source }) => addresses.get(source),
    ...options,
  })
  return async (event, context, send) => {
    const closed = new AbortController()
    const request = toWebRequest(event, closed.signal)
    if (request === undefined) return send(createWebResponse(createErrorAnswer(malformedRequest, [])))
    const { sourceIp } = event.requestContext.http
    if (sourceIp !== undefined) addresses.set(request, sourceIp)
    const stop = drainBeforeEnd(server, context, () => closed.abort())
    try {
      return await send(await handle(request))
    } finally {
      stop()
    }
  }
}

function drainBeforeEnd(server: Server, context: LambdaContext, close: () => void): () => void {
  const remainingMs = context.getRemainingTimeInMillis()
  const reserveMs = Math.min(maxReserveMs, remainingMs / 3)
  let undrain = (): void => {}
  const drainTimer = platformRuntime.setTimeout(() => {
    undrain = server.drain({ graceMs: reserveMs * graceShare })
  }, remainingMs - reserveMs)
  const closeTimer = platformRuntime.setTimeout(close, remainingMs - reserveMs * (1 - closeShare))
  return () => {
    platformRuntime.clearTimeout(drainTimer)
    platformRuntime.clearTimeout(closeTimer)
    undrain()
  }
}
