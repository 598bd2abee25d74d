import type { Log } from '@x/core'
import { type Call, type Exchange, type Server, serverOf } from '@x/exchange'
import type { RpcRequest, RpcResponse } from '@x/schema'

/** A call that waits for the test. */
export interface HeldCall {
  readonly request: RpcRequest
  readonly call: Call
  /** Responds with a result that contains this text. */
  answer(text?: string): void
  fail(error: unknown): void
}

/** Every call waits until the test answers it. */
export interface HeldExchange {
  readonly exchange: Exchange
  readonly calls: readonly HeldCall[]
  /** Resolves when that call has arrived; the first is 0. */
  call(place: number): Promise<HeldCall>
}

export function textResponse({ id }: Pick<RpcRequest, 'id'>, text: string): RpcResponse {
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', text } }
}

/** Answers at once with the method of the request. */
export const echo: Exchange = (request) => Promise.resolve(textResponse(request, request.method))

/** Other machines may call it. */
export function testServer(exchange: Exchange, { log }: { readonly log?: Log | undefined } = {}): Server {
  return serverOf(exchange, { info: { name: 'test', version: '1.0.0' }, localOnly: undefined, log })
}

export function heldExchange(): HeldExchange {
  const calls: HeldCall[] = []
  const waiting = new Map<number, (call: HeldCall) => void>()
  const exchange: Exchange = (request, call) =>
    new Promise((resolve, reject) => {
      const held: HeldCall = {
        request,
        call,
        answer: (text = 'done') => resolve(textResponse(request, text)),
        fail: reject,
      }
      calls.push(held)
      waiting.get(calls.length - 1)?.(held)
    })
  const call = (place: number): Promise<HeldCall> => {
    const held = calls[place]
    return held === undefined ? new Promise((resolve) => waiting.set(place, resolve)) : Promise.resolve(held)
  }
  return { exchange, calls, call }
}
