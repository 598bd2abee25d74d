import type { Call, Exchange, RpcRequest, RpcResponse } from '@x/schema'

/** A call that a test holds in its hand. */
export interface HeldCall {
  readonly request: RpcRequest
  readonly call: Call
  /** Answers with a result that holds this text. */
  answer(text?: string): void
  fail(error: unknown): void
}

/** An exchange whose calls wait until the test answers them. */
export interface HeldExchange {
  readonly exchange: Exchange
  readonly calls: readonly HeldCall[]
  /** Resolves with the call of that place, counted from 0, when it has come. */
  call(place: number): Promise<HeldCall>
}

/** A response with a text. */
export function textResponse({ id }: Pick<RpcRequest, 'id'>, text: string): RpcResponse {
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', text } }
}

/** An exchange that answers at once with the method. */
export const echo: Exchange = (request) => Promise.resolve(textResponse(request, request.method))

/** Makes a {@link HeldExchange}. */
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
