import { Buffer, isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { resolveOptions, type Schedule } from '@x/core'
import type { HttpErrorResponse, Server } from '@x/exchange'
import { checkServer } from '@x/exchange/internal'
import type { ArrivingBody, HttpAdapter, RequestView } from '../server/http-adapter.ts'
import {
  bodyAlreadyReadResponse,
  bodyTooLargeResponse,
  incompleteBodyResponse,
  invalidTextResponse,
} from '../server/reply.ts'
import { handleHeartbeat, type HandlerContext, type RunningCall, runInNextBatch } from '../server/run-call.ts'
import { serveRequest } from '../server/serve-request.ts'
import {
  checkExposure,
  compileSettings,
  type HandlerInternals,
  type HandlerOptions,
  handlerOptionTable,
  type ResolvedHandlerOptions,
} from '../server/handler-settings.ts'
import { type NodeRequest, nodeResponseWriter, type NodeTarget } from './response-writer.ts'

/** Handles a request of node:http, as frameworks such as Express, Connect and Fastify (`request.raw`) pass it. */
export type NodeHandler = (request: NodeRequest, response: ServerResponse) => void

/** The options of {@link nodeHandler}. */
export type NodeHandlerOptions = HandlerOptions<IncomingMessage>

/**
 * Serves a server on node:http without creating web objects. It works without a framework, and any framework can mount
 * it.
 *
 * If a body parser has already read the body, the handler uses `request.body`.
 *
 * @example
 * createServer(nodeHandler(server)).listen(3000, '127.0.0.1')
 *
 * @throws TypeError or RangeError for options that make no sense.
 */
export function nodeHandler(server: Server, options: NodeHandlerOptions = {}): NodeHandler {
  checkServer(server, 'nodeHandler')
  return createHandler(createNodeContext(server, resolveOptions(options, handlerOptionTable, 'nodeHandler')))
}

/** Tests pass other internal values. */
export function createNodeContext(
  server: Server,
  options: ResolvedHandlerOptions<IncomingMessage>,
  internals: HandlerInternals = {},
): NodeContext {
  const runningCalls: RunningCall<NodeTarget>[] = []
  checkExposure(server, options)
  const { clientAddress = ({ source }) => source.socket.remoteAddress } = options
  const settings = compileSettings({ ...options, clientAddress }, server, scheduleUnref, internals)
  // Not with the timers of a test, which must control every wait.
  const usesTimerWheel = internals.schedule === undefined
  const scheduleOnWheel = usesTimerWheel
    ? createTimerWheel(runningCalls, scheduleUnref, (call) => handleHeartbeat(call, context))
    : undefined
  const context: NodeContext = {
    server,
    settings,
    httpAdapter: nodeHttpAdapter,
    activeCalls: runningCalls,
    scheduleOnWheel,
    adapterRequests: [],
  }
  return context
}

/** Settings of a handler on node:http, and its running calls. */
export type NodeContext = HandlerContext<IncomingMessage, NodeTarget>

const nodeHttpAdapter: HttpAdapter<IncomingMessage, NodeTarget> = {
  ...nodeResponseWriter,
  createRequestView: ({ request }) => createNodeRequestView(request),
  readText: ({ request }, arrivingBody) => readNodeBody(request, arrivingBody),
  countUnread(target, take) {
    target.takeUnreadBytes = take
  },
}

// These timers do not keep the process alive, because the connection of a call does.
export function scheduleUnref(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

export function createHandler(context: NodeContext): NodeHandler {
  return (request, response) =>
    void serveRequest({ request, response, pendingText: '', takeUnreadBytes: undefined }, context)
}

export function createNodeRequestView(request: IncomingMessage): RequestView<IncomingMessage> {
  const { headers, rawHeaders } = readNodeHeaders(request)
  const { method = '', url = '' } = request
  return {
    method,
    url,
    source: request,
    header(name) {
      const value = headers[name]
      return typeof value === 'string' ? value : undefined
    },
    headerValues: (name) => headerValuesOf(rawHeaders, name),
    forEachHeader(visit) {
      for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') visit(value, name)
    },
  }
}

/**
 * Over HTTP/2, `:authority` is the `Host`, and no other field that begins with a colon is a header (RFC 9113, section
 * 8.3.1). A `Host` beside it counts only if it differs, as a second one.
 */
function readNodeHeaders({ headers, rawHeaders }: IncomingMessage): Pick<IncomingMessage, 'headers' | 'rawHeaders'> {
  const authority = headers[':authority']
  if (typeof authority !== 'string') return { headers, rawHeaders }
  const ownHeaders = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  const hosts = headers.host === undefined || headers.host === authority ? [] : ['host', authority]
  return {
    headers: { ...Object.fromEntries(ownHeaders), host: headers.host ?? authority },
    rawHeaders: headers.host === undefined ? ['host', authority, ...rawHeaders] : [...hosts, ...rawHeaders],
  }
}

// Compares names only if their lengths are equal, because this function runs for every authenticated request.
function headerValuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index]
    if (rawName?.length === name.length && rawName.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}

/**
 * Makes one timer serve all waits of a list's entries. It suits many long waits of which most are cancelled: a wait
 * needs no memory, and removing an entry from the list cancels its wait. `onDue` is called when a wait ends, up to two
 * ticks late.
 */
export function createTimerWheel<T extends Pick<RunningCall, 'index' | 'dueTick'>>(
  entries: readonly T[],
  schedule: Schedule,
  onDue: (entry: T) => void,
): (entry: T, ms: number) => void {
  let tickCount = 0
  let isTicking = false
  const tick = () => {
    tickCount += 1
    // Selected first, because `onDue` may add and remove entries.
    for (const entry of entries.filter(({ dueTick }) => dueTick !== 0 && dueTick <= tickCount)) {
      if (entries[entry.index] !== entry) continue
      entry.dueTick = 0
      onDue(entry)
    }
    isTicking = entries.length > 0
    if (isTicking) schedule(tick, tickMs)
  }
  return (entry, ms) => {
    if (!isTicking) schedule(tick, tickMs)
    isTicking = true
    // The current tick has partly passed, so one more is added.
    entry.dueTick = tickCount + Math.ceil(ms / tickMs) + 1
  }
}

const tickMs = 1_000

/** Reads a body as UTF-8. Stops at the limit, even if `Content-Length` is smaller. */
function readNodeBody(request: NodeRequest, arrivingBody: ArrivingBody): Promise<string | HttpErrorResponse> {
  const { maxBytes } = arrivingBody
  if (request.readableDidRead || request.readableEnded) return Promise.resolve(readParsedBody(request.body, maxBytes))
  // Not read here: node:http discards its bytes, so that the peer can read the answer.
  if (Number(request.headers['content-length']) > maxBytes) return Promise.resolve(bodyTooLargeResponse(maxBytes))
  return new Promise((resolve) => collectBody(request, arrivingBody, resolve))
}

// The request keeps its listeners until its answer has ended, which may take days, so they release the body once it is
// complete.
function collectBody(request: NodeRequest, arrivingBody: ArrivingBody, resolve: FinishBody): void {
  const { maxBytes } = arrivingBody
  const announcedBytes = Number(request.headers['content-length'] ?? Number.NaN)
  let finish: FinishBody | undefined = resolve
  let bytes: Buffer | undefined
  let receivedBytes = 0
  const end = (body: string | HttpErrorResponse): void => {
    finish?.(body)
    finish = undefined
    bytes = undefined
  }
  const findRejection = (): HttpErrorResponse | undefined => {
    if (receivedBytes > maxBytes) return bodyTooLargeResponse(maxBytes)
    // A complete body is parsed within this tick, so it is not counted.
    return request.complete ? undefined : arrivingBody.grow(receivedBytes)
  }
  request.on('data', (chunk: Buffer) => {
    const chunkStart = receivedBytes
    receivedBytes += chunk.length
    if (finish === undefined) {
      // A peer that continues to send after its answer loses its connection.
      if (receivedBytes > 2 * maxBytes + allowedExcessBytes) request.destroy()
      return
    }
    const rejection = findRejection()
    if (rejection !== undefined) return end(rejection)
    bytes = chunkStart === 0 ? chunk : appendChunk(bytes, chunk, chunkStart, announcedBytes)
  })
  request.on('end', () => runInNextBatch(() => end(decodeUtf8(bytes?.subarray(0, receivedBytes)))))
  request.on('error', () => end(incompleteBodyResponse))
}

type FinishBody = (body: string | HttpErrorResponse) => void

const allowedExcessBytes = 1_048_576
const minBufferBytes = 65_536

// All bytes are in one buffer. A list of chunks would need much more memory if the body arrives in tiny ones.
function appendChunk(bytes: Buffer | undefined, chunk: Buffer, chunkStart: number, announcedBytes: number): Buffer {
  const neededBytes = chunkStart + chunk.length
  if (bytes !== undefined && bytes.length >= neededBytes) {
    chunk.copy(bytes, chunkStart)
    return bytes
  }
  const largerBuffer = Buffer.allocUnsafe(chooseCapacity(neededBytes, announcedBytes))
  bytes?.copy(largerBuffer, 0, 0, chunkStart)
  chunk.copy(largerBuffer, chunkStart)
  return largerBuffer
}

// The buffer gets the announced length at once. If it doubled several times, the garbage collector would have to free
// each smaller copy.
function chooseCapacity(neededBytes: number, announcedBytes: number): number {
  if (neededBytes <= minBufferBytes) return minBufferBytes
  return announcedBytes >= neededBytes ? announcedBytes : 2 * neededBytes
}

function decodeUtf8(bytes: Buffer | undefined): string | HttpErrorResponse {
  if (bytes === undefined) return ''
  return isUtf8(bytes) ? bytes.toString('utf8') : invalidTextResponse
}

// Serialized again, so that the same parser applies the same limits to every body.
function readParsedBody(body: unknown, maxBytes: number): string | HttpErrorResponse {
  if (body === undefined) return bodyAlreadyReadResponse
  const text =
    body instanceof Uint8Array
      ? decodeUtf8(Buffer.from(body))
      : typeof body === 'string'
        ? body
        : serializeParsedBody(body)
  if (typeof text === 'string' && Buffer.byteLength(text) > maxBytes) return bodyTooLargeResponse(maxBytes)
  return text
}

function serializeParsedBody(body: unknown): string | HttpErrorResponse {
  try {
    return JSON.stringify(body) ?? ''
  } catch {
    // A value that `JSON.parse` returned can fail here only because it is nested too deeply.
    return { ...invalidTextResponse, message: 'The body is nested too deeply' }
  }
}
