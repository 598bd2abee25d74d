import { onCancel, randomId } from '@x/core'
import { backPressureKey, createCall, olderRequestKey, withContext } from '@x/exchange'
import { errorCodes, isJsonObject, McpError, type RpcNotification, type WireError } from '@x/schema'
import { createClientMeta, type LegacyClient, toPlainNotification } from '../../translate/request.ts'
import type { Caller, Deps } from './deps.ts'
import { parseCapabilities, requestDiscovery } from './initialize.ts'

/** Subscribes to a server's changes on behalf of an older client. */
export interface ChangeSubscription {
  /**
   * Replaces the resources. The new subscription is opened before the old one is closed. Resolves when the server has
   * acknowledged the new one, or when the subscription has ended.
   */
  update(uris: Iterable<string>): Promise<void>
  /** Resolves when the server has acknowledged the newest subscription, or when the subscription has ended. */
  acknowledged(): Promise<void>
  close(): void
}

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

/** Opens a `subscriptions/listen` request at the server, and converts its notifications to those of older revisions. */
export function listenToChanges(options: ChangeSubscriptionOptions, deps: Deps): ChangeSubscription {
  /**
   * Control the newest subscription, and the one whose notifications are passed on. They differ until the newest one is
   * acknowledged.
   */
  let newestController: AbortController | undefined
  let activeController: AbortController | undefined
  let newestAcknowledgement = Promise.resolve()
  let isClosed = false
  const close = (): void => {
    isClosed = true
    const reason = new DOMException('The client no longer listens', 'AbortError')
    newestController?.abort(reason)
    activeController?.abort(reason)
  }
  const openChangeSubscription = (uris: readonly string[]): void => {
    const controller = new AbortController()
    newestController = controller
    let acknowledge = (): void => {}
    newestAcknowledgement = new Promise((resolve) => (acknowledge = resolve))
    onCancel(controller.signal, acknowledge)
    const notify = (message: RpcNotification): void => {
      if (message.method !== 'notifications/subscriptions/acknowledged') {
        if (!isClosed && activeController === controller) options.notify(toPlainNotification(message))
        return
      }
      acknowledge()
      const replacedController = activeController
      if (newestController === controller) activeController = controller
      else return controller.abort(new DOMException('A newer subscription took its place', 'AbortError'))
      if (replacedController === undefined) options.onOpen?.()
      else replacedController.abort(new DOMException('A newer subscription took its place', 'AbortError'))
    }
    const endSubscription = (error?: WireError): void => {
      acknowledge()
      if (isClosed || newestController !== controller) return
      const wasOpen = activeController !== undefined
      close()
      options.onEnd(wasOpen ? undefined : error)
    }
    const { caller, whenDrained } = options
    const { principal, context } = caller
    const plainCall = createCall({ signal: controller.signal, principal, context, notify })
    const basicCall = withContext(plainCall, olderRequestKey, { revision: options.client.revision })
    const call = whenDrained === undefined ? basicCall : withContext(basicCall, backPressureKey, whenDrained)
    deps.exchange(createListenRequest(options, uris), call).then(
      (response) => endSubscription('error' in response ? response.error : undefined),
      (error: unknown) => {
        if (!isClosed && newestController === controller) deps.reportError(error)
        endSubscription({ code: errorCodes.internal, message: 'The subscription failed' })
      },
    )
  }
  openChangeSubscription([...options.uris])
  const acknowledged = (): Promise<void> => waitForNewest(() => newestAcknowledgement)
  const update = (uris: Iterable<string>): Promise<void> => {
    if (!isClosed) openChangeSubscription([...uris])
    return acknowledged()
  }
  return { update, acknowledged, close }
}

/** Waits for a promise that another one may replace meanwhile. */
async function waitForNewest(getNewest: () => Promise<void>): Promise<void> {
  for (let awaited; awaited !== getNewest(); ) {
    awaited = getNewest()
    await awaited
  }
}

function createListenRequest({ client }: ChangeSubscriptionOptions, uris: readonly string[]) {
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const params = { _meta: createClientMeta(client), notifications }
  return { jsonrpc: '2.0', id: `listen-${randomId()}`, method: 'subscriptions/listen', params } as const
}

/**
 * True if the server has a resource with this URI for the caller. A short subscription finds out, because the server
 * acknowledges only subscriptions to such resources.
 */
export async function isKnownResource(
  uri: string,
  { client, caller }: { readonly client: LegacyClient; readonly caller: Caller },
  deps: Pick<Deps, 'exchange'>,
): Promise<boolean> {
  const controller = new AbortController()
  const { principal, context } = caller
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
    const notifications = { resourceSubscriptions: [uri] }
    const params = { _meta: createClientMeta(client), notifications }
    const request = { jsonrpc: '2.0', id: `listen-${randomId()}`, method: 'subscriptions/listen', params } as const
    const plainCall = createCall({ signal: controller.signal, principal, context, notify })
    deps.exchange(request, withContext(plainCall, olderRequestKey, { revision: client.revision })).then(
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
