import {
  backPressureKey,
  createCall,
  errorCodes,
  isJsonObject,
  McpError,
  type RpcNotification,
  type WireError,
  withContext,
} from '@x/schema'
import { clientMeta, type LegacyClient } from '../translate/request.ts'
import type { Caller } from './call-channel.ts'
import type { Deps } from './deps.ts'
import { capabilitiesIn, requestDiscovery } from './initialize.ts'
import { plainNotification } from './legacy-call.ts'
import { randomId } from './random-id.ts'

/** A subscription to a server's changes on behalf of an older client. */
export interface Listening {
  /** Listens to these resources from now on: the new subscription is opened before the old one is closed. */
  update(uris: Iterable<string>): void
  close(): void
}

/** Parameters with which a subscription is opened. */
export interface ListeningOptions {
  readonly client: LegacyClient
  readonly caller: Caller
  readonly uris: Iterable<string>
  notify(message: RpcNotification): void
  /** Resolves when the reader has caught up; undefined while it is not behind. */
  readonly drained?: (() => Promise<void> | undefined) | undefined
  /** The subscription is open. */
  onOpen?(): void
  /** The subscription has ended by itself; with the error when it could not be opened. */
  onEnd(error?: WireError): void
}

/** Opens a `subscriptions/listen` of the server, whose notifications become plain ones. */
export function listenToChanges(options: ListeningOptions, deps: Deps): Listening {
  /** The subscription that was opened last, and the one that tells of changes; until it is acknowledged they differ. */
  let newest: AbortController | undefined
  let active: AbortController | undefined
  let closed = false
  const close = (): void => {
    closed = true
    const reason = new DOMException('The client listens no more', 'AbortError')
    newest?.abort(reason)
    active?.abort(reason)
  }
  const open = (uris: readonly string[]): void => {
    const controller = new AbortController()
    newest = controller
    const notify = (message: RpcNotification): void => {
      if (message.method !== 'notifications/subscriptions/acknowledged') {
        if (!closed && active === controller) options.notify(plainNotification(message))
        return
      }
      const replaced = active
      if (newest === controller) active = controller
      else return controller.abort(new DOMException('A newer subscription took its place', 'AbortError'))
      if (replaced === undefined) options.onOpen?.()
      else replaced.abort(new DOMException('A newer subscription took its place', 'AbortError'))
    }
    const ended = (error?: WireError): void => {
      if (closed || newest !== controller) return
      const wasOpen = active !== undefined
      close()
      options.onEnd(wasOpen ? undefined : error)
    }
    const { caller, drained } = options
    const { principal, context } = caller
    const plain = createCall({ signal: controller.signal, principal, context, notify })
    const call = drained === undefined ? plain : withContext(plain, backPressureKey, drained)
    deps.exchange(listenRequest(options, uris), call).then(
      (response) => ended('error' in response ? response.error : undefined),
      (error: unknown) => {
        if (!closed && newest === controller) deps.report(error)
        ended({ code: errorCodes.internal, message: 'The subscription failed' })
      },
    )
  }
  open([...options.uris])
  return { update: (uris) => (closed ? undefined : open([...uris])), close }
}

function listenRequest({ client }: ListeningOptions, uris: readonly string[]) {
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const params = { _meta: clientMeta(client), notifications }
  return { jsonrpc: '2.0', id: `listen-${randomId()}`, method: 'subscriptions/listen', params } as const
}

/** Changes of a server for which it sends notifications. */
export interface Notifiable {
  readonly lists: boolean
  readonly resources: boolean
}

/** Returns what the server tells of its changes to this caller. */
export async function notifiableBy(client: LegacyClient, caller: Caller, deps: Deps): Promise<Notifiable> {
  const response = await requestDiscovery(client, caller, deps)
  if ('error' in response) throw new McpError(errorCodes.internal, response.error.message)
  const { tools, prompts, resources } = capabilitiesIn(response.result)
  const lists = [tools, prompts, resources].some((list) => isJsonObject(list) && list.listChanged === true)
  return { lists, resources: resources?.subscribe === true }
}
