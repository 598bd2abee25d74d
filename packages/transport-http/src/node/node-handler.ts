import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from '@x/schema'
import type { HttpAdapter, RequestView } from '../server/http-adapter.ts'
import { handleHeartbeat, type HandlerContext, type RunningCall } from '../server/run-call.ts'
import { serveRequest } from '../server/serve-request.ts'
import {
  checkExposure,
  checkHandlerOptions,
  compileSettings,
  type HandlerInternals,
  type HandlerOptions,
  type Schedule,
} from '../server/handler-settings.ts'
import { nodeResponseWriter, type NodeTarget } from './response-writer.ts'
import { type NodeRequest, readNodeBody } from './read-body.ts'
import type { IndexedEntry } from '../indexed-list.ts'

/**
 * Answers a request of node:http, and of frameworks whose requests are node's (Express, Connect, Fastify's
 * `request.raw`).
 */
export type NodeHandler = (request: NodeRequest, response: ServerResponse) => void

/** The options of {@link nodeHandler}. */
export type NodeHandlerOptions = HandlerOptions<IncomingMessage>

/**
 * Serves a server to node:http without building web objects. No framework is needed, and any can mount it.
 *
 * A body that a parser has read before is taken from `request.body`.
 *
 * @example
 * createServer(nodeHandler(server)).listen(3000, '127.0.0.1')
 *
 * @throws TypeError or RangeError for options that make no sense.
 */
export function nodeHandler(server: Server, options: NodeHandlerOptions = {}): NodeHandler {
  checkHandlerOptions(options, 'nodeHandler')
  return createHandler(createNodeContext(server, options))
}

/** Creates the context of a server and its options, with other internal values for tests. */
export function createNodeContext(
  server: Server,
  options: NodeHandlerOptions,
  internals: HandlerInternals = {},
): NodeContext {
  const runningCalls: RunningCall<NodeTarget>[] = []
  checkExposure(server, options)
  const adapter = server.adapters.http
  const settings = compileSettings(
    { clientAddress: addressOf, ...options },
    { schedule: scheduleUnref, server, internals },
  )
  // A test with its own timers advances every wait.
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
    adapter,
    adapterRequests: [],
  }
  return context
}

/** The settings of a handler on node:http, and its running calls. */
export type NodeContext = HandlerContext<IncomingMessage, NodeTarget>

const nodeHttpAdapter: HttpAdapter<IncomingMessage, NodeTarget> = {
  ...nodeResponseWriter,
  createRequestView: ({ request }) => createNodeRequestView(request),
  readText: ({ request }, bounds) => readNodeBody(request, bounds),
  countUnread(target, take) {
    target.takeUnreadBytes = take
  },
}

// The connection of a call keeps the process alive, so that the timers of the call need not.
function scheduleUnref(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Creates a handler with the given context. */
export function createHandler(context: NodeContext): NodeHandler {
  return (request, response) =>
    void serveRequest({ request, response, pendingText: '', takeUnreadBytes: undefined }, context)
}

function addressOf({ source }: RequestView<IncomingMessage>): string | undefined {
  return source.socket.remoteAddress
}

function createNodeRequestView(request: IncomingMessage): RequestView<IncomingMessage> {
  const { headers, method = '', url = '' } = request
  return {
    method,
    url,
    source: request,
    header(name) {
      const value = headers[name]
      return typeof value === 'string' ? value : undefined
    },
    headerValues: (name) => headerValuesOf(request.rawHeaders, name),
    forEachHeader(visit) {
      for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') visit(value, name)
    },
  }
}

// Names of another length are skipped first: this function runs for every authenticated request.
function headerValuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index]
    if (rawName?.length === name.length && rawName.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}

/** An entry of a list whose members may wait on a timer wheel. */
export interface WheelEntry extends IndexedEntry {
  /** The tick at which the wait ends, or 0 for none. */
  dueTick: number
}

/**
 * Returns a function that starts a wait for an entry of the list and calls `onDue` when it ends. It suits many long
 * waits of which few reach their end: one timer serves all, and none has memory of its own. Removing an entry from the
 * list ends its wait. A wait may end up to two ticks late.
 */
export function createTimerWheel<T extends WheelEntry>(
  entries: readonly T[],
  schedule: Schedule,
  onDue: (entry: T) => void,
): (entry: T, ms: number) => void {
  let tickCount = 0
  let isTicking = false
  const tick = () => {
    tickCount += 1
    // The work for one entry may add others and remove them, so those that are due are picked first.
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
    // The current tick is only partly left, so the wait includes one more.
    entry.dueTick = tickCount + Math.ceil(ms / tickMs) + 1
  }
}

const tickMs = 1_000
