import type { Server } from '@x/exchange'
import { isJsonObject, type JsonObject, type RpcNotification, type RpcResponse } from '@x/schema'
import { shapes, zodOf } from '@x/schema/zod'
import type { ChangeBus, ChangeListener } from '../index.ts'
import { type AskOptions, callOf, requestOf } from './ask.ts'

/** An open `subscriptions/listen` request in a test's hand. */
export interface ListenStream {
  /** What was received, the acknowledgement first. */
  readonly messages: readonly RpcNotification[]
  /** Changes after the acknowledgement: a list's name, or a resource's URI. */
  readonly changes: () => readonly string[]
  readonly response: Promise<RpcResponse>
  readonly abort: (reason?: unknown) => void
}

/** Sends the request without waiting, and checks every notification against the published types. */
export function startListenStream(server: Server, filter: JsonObject, options: AskOptions = {}): ListenStream {
  const messages: RpcNotification[] = []
  const controller = new AbortController()
  const { signal = controller.signal, principal, backPressure, clientAddress } = options
  const notify = (message: RpcNotification): void => {
    checkNotification(message)
    messages.push(message)
    options.notify?.(message)
  }
  const call = callOf({ signal, principal, notify, backPressure, clientAddress })
  const response = server.exchange(requestOf('subscriptions/listen', { notifications: filter }, options), call)
  const changes = (): readonly string[] => messages.slice(1).map(nameOf)
  return { messages, changes, response, abort: (reason) => controller.abort(reason) }
}

const listChanged = zodOf(shapes.notificationParams)

const paramsValidators: ReadonlyMap<string, { readonly parse: (params: unknown) => unknown }> = new Map([
  ['notifications/subscriptions/acknowledged', zodOf(shapes.subscriptionsAcknowledgedNotificationParams)],
  ['notifications/tools/list_changed', listChanged],
  ['notifications/prompts/list_changed', listChanged],
  ['notifications/resources/list_changed', listChanged],
  ['notifications/resources/updated', zodOf(shapes.resourceUpdatedNotificationParams)],
])

function checkNotification(message: RpcNotification): void {
  const validator = paramsValidators.get(message.method)
  if (validator === undefined) throw new Error(`A subscription sends no ${message.method}`)
  zodOf(shapes.rpcNotification).parse(message)
  validator.parse(message.params)
}

/** Resolves when the stream was acknowledged, and rejects if it was refused. */
export async function openListenStream(
  server: Server,
  filter: JsonObject,
  options: AskOptions = {},
): Promise<ListenStream> {
  let acknowledged = (): void => {}
  const opened = new Promise<void>((resolve) => {
    acknowledged = resolve
  })
  const notify = (message: RpcNotification): void => {
    acknowledged()
    options.notify?.(message)
  }
  const stream = startListenStream(server, filter, { ...options, notify })
  await Promise.race([opened, stream.response.then(throwUnexpectedResponse)])
  return stream
}

function throwUnexpectedResponse(response: RpcResponse): never {
  throw new Error(`the stream was to open, and was answered ${JSON.stringify(response)}`)
}

/** Waits for a stream that ends gracefully. */
export async function waitForListenResult({ response }: ListenStream): Promise<JsonObject> {
  const answer = await response
  zodOf(shapes.rpcResponse).parse(answer)
  if (!('result' in answer)) return {}
  zodOf(shapes.subscriptionsListenResult).parse(answer.result)
  return answer.result
}

export function acknowledgedFilterOf({ messages: [first] }: ListenStream): unknown {
  return first?.params?.['notifications']
}

function nameOf({ method, params }: RpcNotification): string {
  const uri = isJsonObject(params) ? params['uri'] : undefined
  return typeof uri === 'string' ? uri : (method.split('/')[1] ?? method)
}

/** A bus that the test opens, breaks and publishes on. */
export interface ManualBus extends ChangeBus {
  /** All calls of `listen` so far. */
  readonly attempts: readonly SubscribeAttempt[]
  readonly published: readonly string[]
  change(topic: string): void
  gap(): void
  /** How many listen now. */
  readonly listeners: number
}

/** One call of `listen`, which waits until the test settles it. */
export interface SubscribeAttempt {
  readonly open: () => void
  readonly fail: (error: unknown) => void
}

/** With `atOnce`, each call of `listen` succeeds at once. */
export function createManualBus({
  atOnce = false,
  publish,
}: {
  atOnce?: boolean
  publish?: () => Promise<void>
} = {}): ManualBus {
  const attempts: SubscribeAttempt[] = []
  const published: string[] = []
  const listeners = new Set<ChangeListener>()
  return {
    attempts,
    published,
    publish: ({ topic }) => {
      published.push(topic)
      return publish?.() ?? Promise.resolve()
    },
    listen: (listener) =>
      new Promise((resolve, reject) => {
        const open = (): void => {
          listeners.add(listener)
          resolve(() => void listeners.delete(listener))
        }
        attempts.push({ open, fail: reject })
        if (atOnce) open()
      }),
    change: (topic) => {
      for (const { onChange } of listeners) onChange({ topic })
    },
    gap: () => {
      for (const { onGap } of listeners) onGap()
    },
    get listeners() {
      return listeners.size
    },
  }
}

/** Lets the callbacks of settled promises run. */
export async function flushAsyncWork(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
