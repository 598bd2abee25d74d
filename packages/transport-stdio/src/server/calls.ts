import {
  type Call,
  cancel,
  type Cancellation,
  cancelledBy,
  createCancellation,
  encodeMessage,
  errorCodes,
  errorResponse,
  type Exchange,
  McpError,
  methodRow,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { cancelled } from '../cancelled.ts'
import type { MessageWriter } from '../message-writer.ts'
import { nameRequest } from '../request-key.ts'
import type { Settings } from './options.ts'

/** The calls of one connection. */
export interface Calls {
  /** Runs a call, or refuses it. */
  run(request: RpcRequest): void
  /** The client wants no answer any more; nothing is sent for the call from here on (basic/patterns/cancellation). */
  cancel(id: RequestId, reason: string | undefined): void
  /** Tells every call to stop; answers are still welcome. */
  stop(reason: unknown): void
  /** Resolves when no call runs. */
  settled(): Promise<void>
  /** Answers for those that run still. */
  giveUp(): void
}

interface RunningCall {
  readonly id: RequestId
  readonly cancellation: Cancellation
  /** Whether it streams until somebody ends it, as subscriptions/listen does. */
  readonly streams: boolean
  /** Whether anything was sent of its stream. */
  opened: boolean
  /** Whether nothing may be sent for it any more. */
  ended: boolean
}

interface Connection {
  readonly exchange: Exchange
  readonly writer: MessageWriter
  readonly settings: Settings
  /** Calls by the ids that the client may not use for another one. */
  readonly byId: Map<RequestId, RunningCall>
  /** Every call that is at work, also those that nobody waits for. */
  readonly working: Set<RunningCall>
  stopping: boolean
  onIdle: () => void
}

/** Starts with no call; `writer` takes what they say. */
export function createCalls(exchange: Exchange, writer: MessageWriter, settings: Settings): Calls {
  const connection: Connection = {
    exchange,
    writer,
    settings,
    byId: new Map(),
    working: new Set(),
    stopping: false,
    onIdle: () => {},
  }
  return {
    run: (request) => {
      const refusal = refusalOf(connection, request.id)
      if (refusal === undefined) runCall(connection, request)
      else send(writer, errorResponse(request.id, refusal))
    },
    cancel: (id, reason) => {
      const call = connection.byId.get(id)
      if (call === undefined) return
      end(connection, call)
      cancel(call.cancellation, new DOMException(reason ?? 'The client cancelled the request', 'AbortError'))
    },
    stop: (reason) => {
      connection.stopping = true
      for (const call of connection.working) cancel(call.cancellation, reason)
    },
    settled: () =>
      new Promise((resolve) => {
        connection.onIdle = resolve
        if (connection.working.size === 0) resolve()
      }),
    giveUp: () => {
      for (const call of connection.byId.values()) answer(connection, call, errorResponse(call.id, stopped()))
    },
  }
}

function refusalOf({ byId, working, settings }: Connection, id: RequestId): McpError | undefined {
  if (byId.has(id)) {
    const message = 'A request with this id is still under way: give each request an id of its own'
    return new McpError(errorCodes.invalidRequest, message)
  }
  if (working.size < settings.maxCalls) return undefined
  const message = `More than ${settings.maxCalls} calls are under way: wait for one of them to end`
  return new McpError(errorCodes.internal, message)
}

function runCall(connection: Connection, request: RpcRequest): void {
  const { id } = request
  const streams = methodRow(request.method)?.streams === true
  const call: RunningCall = { id, cancellation: createCancellation(), streams, opened: false, ended: false }
  connection.byId.set(id, call)
  connection.working.add(call)
  const fail = (error: unknown): void => {
    if (!call.ended) answer(connection, call, errorResponse(id, causeOf(connection, call, error)))
    rest(connection, call)
  }
  try {
    connection
      .exchange(request, callOf(connection, call))
      .then((response) => {
        answer(connection, call, response)
        rest(connection, call)
      })
      .catch(fail)
  } catch (error) {
    fail(error)
  }
}

function callOf(connection: Connection, call: RunningCall): Call {
  const notify = (message: RpcNotification): void => sendNotification(connection, call, message)
  const { settings, writer } = connection
  return cancelledBy({ principal: settings.principal, notify, drained: writer.drained }, call.cancellation)
}

// A call that rejects because it was told to stop has not failed.
function causeOf({ stopping, settings }: Connection, { cancellation }: RunningCall, error: unknown): unknown {
  if (stopping && error === cancellation.reason) return stopped()
  settings.onError(error)
  return error
}

function stopped(): McpError {
  return new McpError(errorCodes.internal, 'The server is stopping')
}

function sendNotification(connection: Connection, call: RunningCall, message: RpcNotification): void {
  if (call.ended) return
  const { writer, settings } = connection
  const text = encodeMessage(nameRequest(message, call.id))
  if (writer.queued() + text.length <= settings.maxQueuedBytes) {
    call.opened = true
    writer.write(text)
  } else if (call.streams) breakOff(connection, call)
}

/** Ends a stream whose reader was too slow, and says so: the client opens it again when it likes. */
function breakOff(connection: Connection, call: RunningCall): void {
  end(connection, call)
  send(connection.writer, cancelled(call.id, 'The reader of the stream was too slow'))
  cancel(call.cancellation, new DOMException('The reader of the stream was too slow', 'AbortError'))
}

/** Sends the response of a call, unless nobody waits for it. Throws for a response that is no JSON; nothing was sent then. */
function answer(connection: Connection, call: RunningCall, response: RpcResponse): void {
  if (call.ended) return
  const text = encodeMessage(response)
  end(connection, call)
  connection.writer.write(text)
  // basic/patterns/cancellation: a server that ends a subscription says so; the response alone is not the stream's end.
  if (call.streams && call.opened) send(connection.writer, cancelled(call.id))
}

function send(writer: MessageWriter, message: RpcNotification | RpcResponse): void {
  writer.write(encodeMessage(message))
}

function end({ byId }: Connection, call: RunningCall): void {
  call.ended = true
  byId.delete(call.id)
}

function rest(connection: Connection, call: RunningCall): void {
  connection.working.delete(call)
  if (connection.working.size === 0) connection.onIdle()
}
