import { isJson, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { errorCodes, McpError, type RequestId, toWire, type WireError } from '@x/schema'
import type { AppFrame, FrameMessage, HostWindow } from './frame.ts'

/** JSON-RPC with the page in a frame. */
export interface AppConnection {
  notify(method: string, params: JsonObject): void
  /** Resolves when the page has answered the request, with success or not. */
  request(method: string, params: JsonObject): Promise<void>
  /** Stops listening, and aborts the signals of requests that still run. */
  close(): void
}

const maxRunningRequests = 32

/**
 * A message counts if it comes from the window of the frame, and from the origin of the sandbox or, without one, from a
 * document without an origin.
 */
export function connectApp(
  frame: AppFrame,
  { hostWindow, sandboxOrigin }: { hostWindow: HostWindow; sandboxOrigin: string | undefined },
  host: {
    answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
    receive(method: string, params: JsonObject): void
  },
): AppConnection {
  const running = new Map<RequestId, AbortController>()
  // Bounded by the host's requests that ask the page to finish.
  const pending = new Map<RequestId, () => void>()
  let lastId = 0
  // A document without an origin cannot be addressed by one.
  const send = (message: JsonObject): void =>
    frame.contentWindow?.postMessage({ jsonrpc: '2.0', ...message }, sandboxOrigin ?? '*')
  const serve = async (id: RequestId, method: string, params: JsonObject): Promise<void> => {
    const controller = new AbortController()
    try {
      if (running.has(id)) throw new McpError(errorCodes.invalidRequest, 'The id is in use')
      if (running.size >= maxRunningRequests) throw new McpError(errorCodes.internal, 'Too many requests at a time')
      running.set(id, controller)
      const result = await host.answer(method, params, controller.signal)
      if (!controller.signal.aborted) send({ id, result })
    } catch (error) {
      if (!controller.signal.aborted) send({ id, error: { ...toAppError(error) } })
    } finally {
      if (running.get(id) === controller) running.delete(id)
    }
  }
  const dispatch = ({ method, params, id }: JsonObject): void => {
    const members = isJsonObject(params) ? params : {}
    if (typeof method !== 'string') pending.get(readId(id))?.()
    else if (id !== undefined) void serve(readId(id), method, members)
    else if (method === 'notifications/cancelled') running.get(readId(members['requestId']))?.abort()
    else host.receive(method, members)
  }
  const onMessage = (event: FrameMessage): void => {
    if (event.source === frame.contentWindow && event.origin === (sandboxOrigin ?? 'null') && isMessage(event.data))
      dispatch(event.data)
  }
  hostWindow.addEventListener('message', onMessage)
  return {
    notify: (method, params) => send({ method, params }),
    async request(method, params) {
      const id = ++lastId
      await new Promise<void>((resolve) => {
        pending.set(id, resolve)
        send({ id, method, params })
      })
      pending.delete(id)
    },
    close() {
      hostWindow.removeEventListener('message', onMessage)
      for (const controller of running.values()) controller.abort()
      for (const resolve of pending.values()) resolve()
    },
  }
}

function isMessage(data: unknown): data is JsonObject {
  if (!isJsonObject(data) || data['jsonrpc'] !== '2.0' || !isJson(data)) return false
  return ['undefined', 'string', 'number'].includes(typeof data['id'])
}

/** No request has the id of undefined. */
function readId(id: JsonValue | undefined): RequestId {
  return typeof id === 'number' ? id : String(id)
}

/** A page gets the error of its server, and nothing about other failures, which may be about the host. */
function toAppError(error: unknown): WireError {
  const rpc: unknown = error instanceof Error && 'rpc' in error ? error.rpc : undefined
  if (!isJsonObject(rpc)) return toWire(error)
  const { code, message, data } = rpc
  return { code: Number(code), message: String(message), ...(data !== undefined && { data }) }
}
