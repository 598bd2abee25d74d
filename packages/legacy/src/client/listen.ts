import {
  type Call,
  cancelReason,
  type Clock,
  isCancelled,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  metaKeys,
  offAbort,
  onAbort,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { LegacySettings } from './options.ts'
import type { LegacySession } from './session.ts'

/** The stream of a session outside its calls, and the subscriptions over it. */
export interface OutsideStream {
  /** Serves `subscriptions/listen`, any number at once. */
  listen(request: RpcRequest, call: Call): Promise<RpcResponse>
  /**
   * Opens the stream for calls that may be asked something: many servers send the questions of a call on it. Waits until it is open, and
   * no longer than a second. A server without one is not asked again.
   */
  prepareForQuestions(): Promise<void>
}

const prepareMs = 1000

interface SessionStreams {
  readonly session: LegacySession
  readonly settings: LegacySettings
  /** The stream is kept open for questions, or the server has none. */
  prepared: Promise<void> | undefined
  /** Number of subscriptions that want each URI. */
  readonly uris: Map<string, number>
  stream:
    | { readonly controller: AbortController; readonly opened: ReturnType<LegacySession['wire']['listen']> }
    | undefined
  users: number
}

interface AcceptedFilter {
  readonly lists: ReadonlySet<string>
  readonly uris: readonly string[]
}

/**
 * Subscriptions over what older revisions have: a stream outside calls, which all subscriptions of a session share, and
 * `resources/subscribe` for each URI (server/resources, subscriptions).
 */
export function createOutsideStream(session: LegacySession, settings: LegacySettings, clock: Clock): OutsideStream {
  const hub: SessionStreams = { session, settings, prepared: undefined, uris: new Map(), stream: undefined, users: 0 }
  return {
    listen: (request, call) => serveListen(hub, request, call),
    prepareForQuestions: () => {
      const { elicitation, sampling, roots } = session.declared
      if (elicitation === undefined && sampling === undefined && roots === undefined) return Promise.resolve()
      hub.prepared ??= prepare(hub, clock)
      return hub.prepared
    },
  }
}

function prepare(hub: SessionStreams, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, prepareMs)
    const opened = shareStream(hub).then((stream) => {
      // It stays open for the calls to come; where it has ended, the next of them opens another.
      void stream?.ended.catch(() => {}).then(() => releaseStreams(hub))
    })
    // The call itself finds out that the session has ended.
    opened
      .catch(() => (hub.prepared = undefined))
      .finally(() => {
        clock.clearTimeout(timer)
        resolve()
      })
  })
}

function releaseStreams(hub: SessionStreams): void {
  hub.prepared = undefined
  closeStream(hub)
}

async function serveListen(hub: SessionStreams, request: RpcRequest, call: Call): Promise<RpcResponse> {
  if (isCancelled(call)) throw cancelReason(call)
  const { session, settings } = hub
  const stream = await shareStream(hub)
  let accepted: AcceptedFilter = { lists: new Set(), uris: [] }
  let listener: ((message: RpcNotification) => void) | undefined
  try {
    if (stream === undefined) warnSilent(settings)
    else accepted = await acceptFilter(hub, requestedFilter(request))
    if (isCancelled(call)) throw cancelReason(call)
    listener = (message) => relay(message, accepted, { call, id: request.id })
    session.listeners.add(listener)
    call.notify(listenAcknowledgement(request.id, accepted))
    await endOf(stream?.ended, call, session)
    return { jsonrpc: '2.0', id: request.id, result: ended(request.id) }
  } finally {
    if (listener !== undefined) session.listeners.delete(listener)
    closeStream(hub)
    await Promise.all(accepted.uris.map((uri) => unsubscribe(hub, uri)))
  }
}

async function shareStream(hub: SessionStreams): Promise<{ readonly ended: Promise<void> } | undefined> {
  const { session } = hub
  hub.users += 1
  if (hub.stream === undefined) {
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, session.ended])
    hub.stream = { controller, opened: session.wire.listen(signal, session.outside) }
  }
  const { stream } = hub
  try {
    const opened = await stream.opened
    // A stream that has ended is not used by who comes later.
    void opened?.ended.finally(() => forget(hub, stream)).catch(() => {})
    return opened
  } catch (error) {
    forget(hub, stream)
    hub.users -= 1
    throw error
  }
}

function forget(hub: SessionStreams, stream: SessionStreams['stream']): void {
  if (hub.stream === stream) hub.stream = undefined
}

function closeStream(hub: SessionStreams): void {
  hub.users -= 1
  if (hub.users > 0) return
  hub.stream?.controller.abort(new Error('Nobody listens'))
  hub.stream = undefined
}

function warnSilent({ warn }: LegacySettings): void {
  warn({ code: 'no_subscription', message: 'The server has no stream for notifications: it does not tell of changes' })
}

const lists = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
] as const

const kinds: ReadonlyMap<string, string> = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
])

function requestedFilter({ params }: RpcRequest): JsonObject {
  const filter = params?.['notifications']
  return isJsonObject(filter) ? filter : {}
}

/** Subscribes to what was asked for and the server has declared. */
async function acceptFilter(hub: SessionStreams, filter: JsonObject): Promise<AcceptedFilter> {
  const { capabilities } = hub.session.peer
  const served = lists.filter(([name, member]) => filter[name] === true && capabilities[member]?.listChanged === true)
  const { resourceSubscriptions } = filter
  const wanted =
    Array.isArray(resourceSubscriptions) && capabilities.resources?.subscribe === true ? resourceSubscriptions : []
  const unique = [...new Set(wanted.filter((uri: JsonValue) => typeof uri === 'string'))]
  const subscribed = await Promise.all(unique.map((uri) => subscribeTo(hub, uri)))
  return { lists: new Set(served.map(([name]) => name)), uris: unique.filter((_, index) => subscribed[index]) }
}

async function subscribeTo(hub: SessionStreams, uri: string): Promise<boolean> {
  const users = hub.uris.get(uri) ?? 0
  hub.uris.set(uri, users + 1)
  if (users > 0) return true
  const response = await requestAbout(hub, 'resources/subscribe', uri)
  if ('result' in response) return true
  hub.uris.delete(uri)
  return false
}

async function unsubscribe(hub: SessionStreams, uri: string): Promise<void> {
  const users = (hub.uris.get(uri) ?? 1) - 1
  if (users > 0) hub.uris.set(uri, users)
  else hub.uris.delete(uri)
  // A session that has ended has no subscriptions.
  if (users <= 0 && !hub.session.ended.aborted) await requestAbout(hub, 'resources/unsubscribe', uri).catch(() => {})
}

function requestAbout({ session }: SessionStreams, method: string, uri: string): Promise<RpcResponse> {
  const request: RpcRequest = { jsonrpc: '2.0', id: session.nextId(), method, params: { uri } }
  return session.wire.request(request, session.ended, session.outside)
}

function relay(
  message: RpcNotification,
  { lists, uris }: AcceptedFilter,
  to: { readonly call: Call; readonly id: RequestId },
): void {
  const { method, params } = message
  const uri = method === 'notifications/resources/updated' ? params?.['uri'] : undefined
  const kind = kinds.get(method)
  const isWanted = kind === undefined ? typeof uri === 'string' && isSubscribed(uri, uris) : lists.has(kind)
  if (isWanted) to.call.notify({ ...message, params: { ...params, _meta: subscription(to.id) } })
}

// server/resources: an update may be about a part of what was subscribed to.
function isSubscribed(uri: string, uris: readonly string[]): boolean {
  return uris.some((wanted) => uri === wanted || uri.startsWith(wanted.endsWith('/') ? wanted : `${wanted}/`))
}

function subscription(id: RequestId): JsonObject {
  return { [metaKeys.subscriptionId]: id }
}

function listenAcknowledgement(id: RequestId, { lists, uris }: AcceptedFilter): RpcNotification {
  const notifications: JsonObject = {
    ...Object.fromEntries([...lists].map((name) => [name, true])),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  }
  const params = { notifications, _meta: subscription(id) }
  return { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }
}

function ended(id: RequestId): JsonObject {
  return { resultType: 'complete', _meta: subscription(id) }
}

/** Resolves when the stream or the session ends, and rejects when the call is cancelled. */
function endOf(stream: Promise<void> | undefined, call: Call, { ended }: LegacySession): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => finish(() => reject(cancelReason(call)))
    const end = (): void => finish(resolve)
    const finish = (finish: () => void): void => {
      offAbort(call.signal, cancel)
      offAbort(ended, end)
      finish()
    }
    onAbort(call.signal, cancel)
    onAbort(ended, end)
    if (isCancelled(call)) cancel()
    else if (ended.aborted) end()
    stream?.then(end, end)
  })
}
