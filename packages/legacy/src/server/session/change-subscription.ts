import { onCancel, randomId } from '@x/core'
import { backPressureKey, type Call, createCall, olderRequestKey, withContext } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, McpError, type RpcNotification, type WireError } from '@x/schema'
import { createClientMeta, type LegacyClient, toPlainNotification } from '../../translate/request.ts'
import type { Caller, Deps } from './deps.ts'
import { parseCapabilities, requestDiscovery } from './initialize.ts'

export interface ChangeSubscriptionOptions {
  readonly client: LegacyClient
  readonly caller: Caller
  readonly uris: Iterable<string>
  notify(message: RpcNotification): void
  /** Resolves when the client has read all queued notifications. Undefined if it has already. */
  readonly whenDrained?: (() => Promise<void> | undefined) | undefined
  /** Called when the subscription is open. */
  onOpen?(): void
  /** Called when the server has ended the subscription, with an `error` if it could not be opened. */
  onEnd(error?: WireError): void
}

/**
 * Subscribes to a server's changes on behalf of an older client: opens a `subscriptions/listen` request at the server,
 * and converts its notifications to those of older revisions.
 */
export class ChangeSubscription {
  readonly #options: ChangeSubscriptionOptions
  readonly #deps: Deps
  /**
   * Control the newest subscription, and the one whose notifications are passed on. They differ until the newest one is
   * acknowledged.
   */
  #newestController: AbortController | undefined
  #activeController: AbortController | undefined
  #newestAcknowledgement = Promise.resolve()
  #isClosed = false

  constructor(options: ChangeSubscriptionOptions, deps: Deps) {
    this.#options = options
    this.#deps = deps
    this.#open([...options.uris])
  }

  /**
   * Replaces the resources. The new subscription is opened before the old one is closed. Resolves when the server has
   * acknowledged the new one, or when the subscription has ended.
   */
  update(uris: Iterable<string>): Promise<void> {
    if (!this.#isClosed) this.#open([...uris])
    return this.acknowledged()
  }

  /** Resolves when the server has acknowledged the newest subscription, or when the subscription has ended. */
  async acknowledged(): Promise<void> {
    // A newer subscription may take its place meanwhile.
    for (let awaited; awaited !== this.#newestAcknowledgement; ) {
      awaited = this.#newestAcknowledgement
      await awaited
    }
  }

  close(): void {
    this.#isClosed = true
    const reason = new DOMException('The client no longer listens', 'AbortError')
    this.#newestController?.abort(reason)
    this.#activeController?.abort(reason)
  }

  #open(uris: readonly string[]): void {
    const controller = new AbortController()
    this.#newestController = controller
    let acknowledge = (): void => {}
    this.#newestAcknowledgement = new Promise((resolve) => (acknowledge = resolve))
    onCancel(controller.signal, acknowledge)
    const notify = (message: RpcNotification): void => {
      if (message.method !== 'notifications/subscriptions/acknowledged') {
        if (!this.#isClosed && this.#activeController === controller) this.#options.notify(toPlainNotification(message))
        return
      }
      acknowledge()
      this.#activate(controller)
    }
    const isCurrent = (): boolean => !this.#isClosed && this.#newestController === controller
    const end = (error?: WireError): void => {
      acknowledge()
      if (!isCurrent()) return
      const wasOpen = this.#activeController !== undefined
      this.close()
      this.#options.onEnd(wasOpen ? undefined : error)
    }
    const { client, whenDrained } = this.#options
    const basicCall = createListenCall(this.#options, controller.signal, notify)
    const call = whenDrained === undefined ? basicCall : withContext(basicCall, backPressureKey, whenDrained)
    const notifications = { ...listChanges, ...(uris.length > 0 && { resourceSubscriptions: uris }) }
    this.#deps.exchange(createListenRequest(client, notifications), call).then(
      (response) => end('error' in response ? response.error : undefined),
      (error: unknown) => {
        if (isCurrent()) this.#deps.reportError(error)
        end({ code: errorCodes.internal, message: 'The subscription failed' })
      },
    )
  }

  /** Passes the notifications of an acknowledged subscription on, and ends the one before it. */
  #activate(controller: AbortController): void {
    if (this.#newestController !== controller) return abortReplaced(controller)
    const replacedController = this.#activeController
    this.#activeController = controller
    if (replacedController === undefined) this.#options.onOpen?.()
    else abortReplaced(replacedController)
  }
}

function abortReplaced(controller: AbortController): void {
  controller.abort(new DOMException('A newer subscription took its place', 'AbortError'))
}

const listChanges = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

function createListenRequest(client: LegacyClient, notifications: JsonObject) {
  const params = { _meta: createClientMeta(client), notifications }
  return { jsonrpc: '2.0', id: `listen-${randomId()}`, method: 'subscriptions/listen', params } as const
}

function createListenCall(
  { client, caller: { principal, context } }: Pick<ChangeSubscriptionOptions, 'client' | 'caller'>,
  signal: AbortSignal,
  notify: Call['notify'],
): Call {
  const call = createCall({ signal, principal, context, notify })
  return withContext(call, olderRequestKey, { revision: client.revision })
}

/**
 * True if the server has a resource with this URI for the caller. A short subscription finds out, because the server
 * acknowledges only subscriptions to such resources.
 */
export async function isKnownResource(
  uri: string,
  subscriber: Pick<ChangeSubscriptionOptions, 'client' | 'caller'>,
  { exchange }: Pick<Deps, 'exchange'>,
): Promise<boolean> {
  const controller = new AbortController()
  return new Promise((resolve, reject) => {
    const finish = (isKnown: boolean): void => {
      resolve(isKnown)
      controller.abort(new DOMException('The resource was looked up', 'AbortError'))
    }
    const notify = ({ params }: RpcNotification): void => {
      const accepted = params?.['notifications']
      const uris = isJsonObject(accepted) ? accepted['resourceSubscriptions'] : undefined
      finish(Array.isArray(uris) && uris.includes(uri))
    }
    const request = createListenRequest(subscriber.client, { resourceSubscriptions: [uri] })
    exchange(request, createListenCall(subscriber, controller.signal, notify)).then(
      (response) => ('error' in response ? reject(toMcpError(response.error)) : finish(false)),
      () => finish(false),
    )
  })
}

function toMcpError({ code, message, data }: WireError): McpError {
  return new McpError(code, message, data === undefined ? {} : { data })
}

/** The kinds of changes that the server notifies this caller of. */
export async function requestNotifiableKinds(
  client: LegacyClient,
  caller: Caller,
  deps: Deps,
): Promise<{ readonly notifiesListChanges: boolean; readonly hasResourceUpdates: boolean }> {
  const response = await requestDiscovery({ client }, caller, deps)
  if ('error' in response) throw new McpError(errorCodes.internal, response.error.message)
  const { tools, prompts, resources } = parseCapabilities(response.result)
  const canNotifyLists = [tools, prompts, resources].some((list) => isJsonObject(list) && list.listChanged === true)
  return { notifiesListChanges: canNotifyLists, hasResourceUpdates: resources?.subscribe === true }
}
