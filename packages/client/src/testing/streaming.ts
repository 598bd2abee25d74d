import type { Call, Exchange } from '@x/exchange'
import { type JsonObject, metaKeys, type RequestId, type RpcRequest, type RpcResponse, type WireError } from '@x/schema'
import { type Script, type ScriptedExchange, createScriptedExchange } from './scripted-exchange.ts'

/** An open `subscriptions/listen` request that the test controls. */
export interface OpenStream {
  readonly request: RpcRequest
  readonly call: Call
  readonly id: RequestId
  /** Sends a notification with this subscription's id. */
  notify(method: string, params?: JsonObject): void
  /** Acknowledges the subscription, by default with its whole filter. */
  acknowledge(notifications?: JsonObject): void
  /** Ends the stream gracefully. */
  end(): void
  refuse(error: WireError): void
  /** Ends the stream with an error. */
  fail(error: unknown): void
}

export interface StreamingExchange extends ScriptedExchange {
  readonly streams: OpenStream[]
  /** Opened last. */
  last(): OpenStream
}

/** Keeps each `subscriptions/listen` request open, and answers others with the script. */
export function createStreamingExchange(script: Script = () => ({})): StreamingExchange {
  const streams: OpenStream[] = []
  const others = createScriptedExchange(script)
  const exchange: Exchange = (request, call) => {
    if (request.method !== 'subscriptions/listen') return others(request, call)
    return new Promise<RpcResponse>((resolve, reject) => {
      streams.push(openStream(request, call, resolve, reject))
      // As a transport ends a cancelled request.
      call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true })
    })
  }
  const last = (): OpenStream => {
    const found = streams.at(-1)
    if (!found) throw new Error('no stream was opened')
    return found
  }
  return Object.assign(exchange, { streams, last, received: others.received })
}

function openStream(
  request: RpcRequest,
  call: Call,
  resolve: (response: RpcResponse) => void,
  reject: (error: unknown) => void,
): OpenStream {
  const { id, params } = request
  const notify = (method: string, more: JsonObject = {}): void => {
    call.notify({ jsonrpc: '2.0', method, params: { _meta: { [metaKeys.subscriptionId]: id }, ...more } })
  }
  const asked = params?.notifications
  return {
    request,
    call,
    id,
    notify,
    acknowledge: (notifications) =>
      notify('notifications/subscriptions/acknowledged', { notifications: notifications ?? asked ?? {} }),
    end: () =>
      resolve({
        jsonrpc: '2.0',
        id,
        result: { resultType: 'complete', _meta: { [metaKeys.subscriptionId]: id } },
      }),
    refuse: (error) => resolve({ jsonrpc: '2.0', id, error }),
    fail: reject,
  }
}

export const toolsListChangedMethod = 'notifications/tools/list_changed'
export const promptsListChangedMethod = 'notifications/prompts/list_changed'
export const resourcesListChangedMethod = 'notifications/resources/list_changed'
export const resourceUpdatedMethod = 'notifications/resources/updated'

/** Takes the next `count` events, or fewer if the stream ends earlier. */
export async function collectItems<T>(iterator: AsyncIterator<T>, count: number): Promise<T[]> {
  const events: T[] = []
  for (let index = 0; index < count; index += 1) {
    const { done, value } = await iterator.next()
    if (done) break
    events.push(value)
  }
  return events
}
