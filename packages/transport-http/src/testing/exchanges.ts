import { type Call, type Exchange, type Server, serverOf } from '@x/exchange'
import type { JsonObject, RpcNotification, RpcRequest, RpcResult } from '@x/schema'

/** Answers every request with its method. */
export const echo: Exchange = async (request) => resultOf(request, { method: request.method })

/** Makes a server of an exchange, with some members replaced. Other machines may call it. */
export function testServer(exchange: Exchange, members: Partial<Server> = {}): Server {
  return { ...serverOf(exchange, { info: { name: 'test', version: '1.0.0' }, localOnly: undefined }), ...members }
}

export function resultOf(request: RpcRequest, result: JsonObject = {}): RpcResult {
  return { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', ...result } }
}

export function createProgressNotification(value: number, message = ''): RpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 't', progress: value, message } }
}

/** Waits until the test answers it. */
export interface PendingCall {
  readonly request: RpcRequest
  readonly call: Call
  answer(result?: JsonObject): void
  fail(error: unknown): void
}

/** Calls of this exchange wait until the test answers them. */
export function pendingCalls(): { exchange: Exchange; next(): Promise<PendingCall> } {
  const came: PendingCall[] = []
  const wanted: ((pending: PendingCall) => void)[] = []
  const exchange: Exchange = (request, call) =>
    new Promise((resolve, reject) => {
      const answer = (result?: JsonObject) => resolve(resultOf(request, result))
      const pending = { request, call, answer, fail: reject }
      const want = wanted.shift()
      if (want === undefined) came.push(pending)
      else want(pending)
    })
  const next = () =>
    new Promise<PendingCall>((resolve) => {
      const pending = came.shift()
      if (pending === undefined) wanted.push(resolve)
      else resolve(pending)
    })
  return { exchange, next }
}

/** Resolves with the reason when the signal aborts. */
export function waitForAbort(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    else signal.addEventListener('abort', () => resolve(signal.reason))
  })
}
