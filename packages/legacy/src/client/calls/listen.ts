import { type Clock, settlesWithin, isCancelled, onCancel, offCancel } from '@x/core'
import type { Call } from '@x/exchange'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  metaKeys,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { LegacySettings } from '../options.ts'
import { canBeAsked } from './capabilities.ts'
import type { LegacySession } from './session.ts'

const prepareTimeoutMs = 1000

interface AcceptedFilter {
  readonly listFields: ReadonlySet<string>
  readonly uris: readonly string[]
}

/**
 * A session's stream for messages outside its calls. All subscriptions share it, and `resources/subscribe` is sent once
 * for each URI (server/resources, subscriptions).
 */
export class StandaloneStream {
  readonly #session: LegacySession
  readonly #settings: LegacySettings
  readonly #clock: Clock
  /**
   * Opens the stream for questions. If the server has no such stream, the promise stays, so that no call asks again.
   */
  #preparation: Promise<void> | undefined
  // Bounded by the URIs that the host subscribes to.
  readonly #subscriptionCounts = new Map<string, number>()
  #stream:
    | { readonly controller: AbortController; readonly opening: ReturnType<LegacySession['port']['listen']> }
    | undefined
  #referenceCount = 0

  constructor(session: LegacySession, settings: LegacySettings, clock: Clock) {
    this.#session = session
    this.#settings = settings
    this.#clock = clock
  }

  /**
   * Opens the stream before a call in which the server may ask questions, because many servers send them there. Waits
   * for at most a second. If the server has no such stream, it is not requested again.
   */
  async prepareForQuestions(): Promise<void> {
    if (!canBeAsked(this.#session.declaredCapabilities)) return
    this.#preparation ??= this.#prepare()
    await this.#preparation
  }

  async #prepare(): Promise<void> {
    const release = (): void => {
      this.#preparation = undefined
      this.#release()
    }
    const opened = this.#acquire().then(
      // It stays open for later calls. If it ends, the next call opens another one.
      (stream) => void stream?.endPromise.then(release, release),
      // This error need not be reported, because the call's own request fails in the same way.
      () => (this.#preparation = undefined),
    )
    await settlesWithin(opened, prepareTimeoutMs, this.#clock)
  }

  /** Serves a `subscriptions/listen` request, of which any number may run at once. */
  async listen(request: RpcRequest, call: Call): Promise<RpcResponse> {
    if (isCancelled(call)) throw call.signal.reason
    const { listeners, endSignal } = this.#session
    const stream = await this.#acquire()
    // Always empty.
    let filter: AcceptedFilter = { listFields: new Set(), uris: [] }
    const listener = (message: RpcNotification): void => relayNotification(message, filter, { call, id: request.id })
    try {
      if (stream === undefined) this.#settings.warn('no_subscription', noSubscriptionMessage)
      else filter = await this.#acceptFilter(parseRequestedFilter(request))
      if (isCancelled(call)) throw call.signal.reason
      listeners.add(listener)
      call.notify(createListenAcknowledgement(request.id, filter))
      await waitForEnd(stream?.endPromise, call, endSignal)
      const result = { resultType: 'complete', _meta: createSubscriptionMeta(request.id) }
      return { jsonrpc: '2.0', id: request.id, result }
    } finally {
      listeners.delete(listener)
      this.#release()
      await Promise.all(filter.uris.map((uri) => this.#unsubscribe(uri)))
    }
  }

  async #acquire(): ReturnType<LegacySession['port']['listen']> {
    const { port, endSignal, standaloneHandlers } = this.#session
    this.#referenceCount += 1
    if (this.#stream === undefined) {
      const controller = new AbortController()
      const signal = AbortSignal.any([controller.signal, endSignal])
      this.#stream = { controller, opening: port.listen(signal, standaloneHandlers) }
    }
    const stream = this.#stream
    // Later calls must not use a stream that has ended.
    const forget = (): void => {
      if (this.#stream === stream) this.#stream = undefined
    }
    try {
      const opened = await stream.opening
      opened?.endPromise.then(forget, forget)
      return opened
    } catch (error) {
      forget()
      this.#referenceCount -= 1
      throw error
    }
  }

  #release(): void {
    this.#referenceCount -= 1
    if (this.#referenceCount > 0) return
    this.#stream?.controller.abort(new Error('No caller listens'))
    this.#stream = undefined
  }

  /**
   * Subscribes to the requested changes for which the server declares notifications, and returns this part of the
   * filter.
   */
  async #acceptFilter(filter: JsonObject): Promise<AcceptedFilter> {
    const { capabilities } = this.#session.peer
    const servedListFields = listFilterFields.filter(
      ([name, member]) => filter[name] === true && capabilities[member]?.listChanged === true,
    )
    const { resourceSubscriptions } = filter
    const wantedUris =
      Array.isArray(resourceSubscriptions) && capabilities.resources?.subscribe === true ? resourceSubscriptions : []
    const uniqueUris = [...new Set(wantedUris.filter((uri: JsonValue) => typeof uri === 'string'))]
    const subscribedFlags = await Promise.all(uniqueUris.map((uri) => this.#subscribe(uri)))
    return {
      listFields: new Set(servedListFields.map(([name]) => name)),
      uris: uniqueUris.filter((_, index) => subscribedFlags[index]),
    }
  }

  async #subscribe(uri: string): Promise<boolean> {
    const userCount = this.#subscriptionCounts.get(uri) ?? 0
    this.#subscriptionCounts.set(uri, userCount + 1)
    if (userCount > 0) return true
    const response = await this.#sendRequest('resources/subscribe', uri)
    if ('result' in response) return true
    this.#subscriptionCounts.delete(uri)
    return false
  }

  async #unsubscribe(uri: string): Promise<void> {
    const userCount = (this.#subscriptionCounts.get(uri) ?? 1) - 1
    if (userCount > 0) return void this.#subscriptionCounts.set(uri, userCount)
    this.#subscriptionCounts.delete(uri)
    // A session that has ended has no subscriptions to remove.
    if (!this.#session.endSignal.aborted) await this.#sendRequest('resources/unsubscribe', uri).catch(() => {})
  }

  #sendRequest(method: string, uri: string): Promise<RpcResponse> {
    const { port, endSignal, standaloneHandlers } = this.#session
    const request: RpcRequest = { jsonrpc: '2.0', id: this.#session.nextId(), method, params: { uri } }
    return port.send(request, endSignal, standaloneHandlers)
  }
}

const noSubscriptionMessage = 'The server has no stream for notifications: it does not notify of changes'

const listFilterFields = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
] as const

const filterFieldsByMethod: ReadonlyMap<string, string> = new Map(
  listFilterFields.map(([field, list]) => [`notifications/${list}/list_changed`, field]),
)

function parseRequestedFilter({ params }: RpcRequest): JsonObject {
  const filter = params?.['notifications']
  return isJsonObject(filter) ? filter : {}
}

function relayNotification(
  message: RpcNotification,
  { listFields, uris }: AcceptedFilter,
  subscriber: { readonly call: Call; readonly id: RequestId },
): void {
  const { method, params } = message
  const uri = method === 'notifications/resources/updated' ? params?.['uri'] : undefined
  const filterField = filterFieldsByMethod.get(method)
  const isWanted =
    filterField === undefined ? typeof uri === 'string' && isSubscribed(uri, uris) : listFields.has(filterField)
  if (isWanted)
    subscriber.call.notify({ ...message, params: { ...params, _meta: createSubscriptionMeta(subscriber.id) } })
}

// server/resources: an update may name a part of the subscribed resource.
function isSubscribed(uri: string, uris: readonly string[]): boolean {
  return uris.some(
    (subscribedUri) =>
      uri === subscribedUri || uri.startsWith(subscribedUri.endsWith('/') ? subscribedUri : `${subscribedUri}/`),
  )
}

function createSubscriptionMeta(id: RequestId): JsonObject {
  return { [metaKeys.subscriptionId]: id }
}

function createListenAcknowledgement(id: RequestId, { listFields, uris }: AcceptedFilter): RpcNotification {
  const notifications: JsonObject = {
    ...Object.fromEntries([...listFields].map((name) => [name, true])),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  }
  const params = { notifications, _meta: createSubscriptionMeta(id) }
  return { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }
}

/** Resolves when the stream or the session ends. Rejects when the call is cancelled. */
function waitForEnd(streamEndPromise: Promise<void> | undefined, call: Call, endSignal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (isCancelled(call)) return reject(call.signal.reason)
    const cancel = (reason: unknown): void => finish(() => reject(reason))
    const end = (): void => finish(resolve)
    const finish = (settle: () => void): void => {
      offCancel(call, cancel)
      offCancel(endSignal, end)
      settle()
    }
    onCancel(call, cancel)
    onCancel(endSignal, end)
    streamEndPromise?.then(end, end)
  })
}
