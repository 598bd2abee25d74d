import { abortReasonOf, type Clock, isCancelled, offAbort, onAbort } from '@x/core'
import {
  type Call,
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
import type { LegacySession } from './session.ts'

/** The stream of a session outside its calls, and the subscriptions over it. */
export interface StandaloneStream {
  /** Serves `subscriptions/listen`, any number at once. */
  listen(request: RpcRequest, call: Call): Promise<RpcResponse>
  /**
   * Opens the stream for calls that may be asked something: many servers send the questions of a call on it. Waits
   * until it is open, and no longer than a second. A server without one is not asked again.
   */
  prepareForQuestions(): Promise<void>
}

const prepareTimeoutMs = 1000

interface SessionStreams {
  readonly session: LegacySession
  readonly settings: LegacySettings
  /** The stream is kept open for questions, or the server has none. */
  preparation: Promise<void> | undefined
  /** Number of subscriptions that want each URI. */
  readonly subscriptionCounts: Map<string, number>
  stream:
    | {
        readonly controller: AbortController
        readonly listeningStream: ReturnType<LegacySession['port']['listen']>
      }
    | undefined
  referenceCount: number
}

interface AcceptedFilter {
  readonly listFields: ReadonlySet<string>
  readonly uris: readonly string[]
}

/**
 * Subscriptions over what older revisions have: a stream outside calls, which all subscriptions of a session share, and
 * `resources/subscribe` for each URI (server/resources, subscriptions).
 */
export function createStandaloneStream(
  session: LegacySession,
  settings: LegacySettings,
  clock: Clock,
): StandaloneStream {
  const sessionStreams: SessionStreams = {
    session,
    settings,
    preparation: undefined,
    subscriptionCounts: new Map(),
    stream: undefined,
    referenceCount: 0,
  }
  return {
    listen: (request, call) => serveListen(sessionStreams, request, call),
    prepareForQuestions: () => {
      const { elicitation, sampling, roots } = session.declaredCapabilities
      if (elicitation === undefined && sampling === undefined && roots === undefined) return Promise.resolve()
      sessionStreams.preparation ??= prepareStream(sessionStreams, clock)
      return sessionStreams.preparation
    },
  }
}

function prepareStream(sessionStreams: SessionStreams, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, prepareTimeoutMs)
    const openedStream = acquireStream(sessionStreams).then((stream) => {
      // It stays open for the calls to come. Where it has ended, the next of them opens another.
      void stream?.endPromise.catch(() => {}).then(() => releaseStreams(sessionStreams))
    })
    // The call itself finds out that the session has ended.
    openedStream
      .catch(() => (sessionStreams.preparation = undefined))
      .finally(() => {
        clock.clearTimeout(timer)
        resolve()
      })
  })
}

function releaseStreams(sessionStreams: SessionStreams): void {
  sessionStreams.preparation = undefined
  closeStream(sessionStreams)
}

async function serveListen(sessionStreams: SessionStreams, request: RpcRequest, call: Call): Promise<RpcResponse> {
  if (isCancelled(call)) throw abortReasonOf(call)
  const { session, settings } = sessionStreams
  const stream = await acquireStream(sessionStreams)
  let activeFilter: AcceptedFilter = { listFields: new Set(), uris: [] }
  let listener: ((message: RpcNotification) => void) | undefined
  try {
    if (stream === undefined) warnNoSubscription(settings)
    else activeFilter = await acceptFilter(sessionStreams, parseRequestedFilter(request))
    if (isCancelled(call)) throw abortReasonOf(call)
    listener = (message) => relayNotification(message, activeFilter, { call, id: request.id })
    session.listeners.add(listener)
    call.notify(createListenAcknowledgement(request.id, activeFilter))
    await waitForEnd(stream?.endPromise, call, session)
    return { jsonrpc: '2.0', id: request.id, result: createListenResult(request.id) }
  } finally {
    if (listener !== undefined) session.listeners.delete(listener)
    closeStream(sessionStreams)
    await Promise.all(activeFilter.uris.map((uri) => unsubscribeFromResource(sessionStreams, uri)))
  }
}

async function acquireStream(
  sessionStreams: SessionStreams,
): Promise<{ readonly endPromise: Promise<void> } | undefined> {
  const { session } = sessionStreams
  sessionStreams.referenceCount += 1
  if (sessionStreams.stream === undefined) {
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, session.endSignal])
    sessionStreams.stream = {
      controller,
      listeningStream: session.port.listen(signal, session.standaloneHandlers),
    }
  }
  const { stream } = sessionStreams
  try {
    const openedStream = await stream.listeningStream
    // A stream that has ended is not used by who comes later.
    void openedStream?.endPromise.finally(() => forgetStream(sessionStreams, stream)).catch(() => {})
    return openedStream
  } catch (error) {
    forgetStream(sessionStreams, stream)
    sessionStreams.referenceCount -= 1
    throw error
  }
}

function forgetStream(sessionStreams: SessionStreams, stream: SessionStreams['stream']): void {
  if (sessionStreams.stream === stream) sessionStreams.stream = undefined
}

function closeStream(sessionStreams: SessionStreams): void {
  sessionStreams.referenceCount -= 1
  if (sessionStreams.referenceCount > 0) return
  sessionStreams.stream?.controller.abort(new Error('No caller listens'))
  sessionStreams.stream = undefined
}

function warnNoSubscription({ warn }: LegacySettings): void {
  warn({
    code: 'no_subscription',
    message: 'The server has no stream for notifications: it does not notify of changes',
  })
}

const listFilterFields = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
] as const

const filterFieldsByMethod: ReadonlyMap<string, string> = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
])

function parseRequestedFilter({ params }: RpcRequest): JsonObject {
  const filter = params?.['notifications']
  return isJsonObject(filter) ? filter : {}
}

/** Subscribes to what was asked for and the server has declared. */
async function acceptFilter(sessionStreams: SessionStreams, filter: JsonObject): Promise<AcceptedFilter> {
  const { capabilities } = sessionStreams.session.peer
  const servedListFields = listFilterFields.filter(
    ([name, member]) => filter[name] === true && capabilities[member]?.listChanged === true,
  )
  const { resourceSubscriptions } = filter
  const wantedUris =
    Array.isArray(resourceSubscriptions) && capabilities.resources?.subscribe === true ? resourceSubscriptions : []
  const uniqueUris = [...new Set(wantedUris.filter((uri: JsonValue) => typeof uri === 'string'))]
  const subscribedFlags = await Promise.all(uniqueUris.map((uri) => subscribeToResource(sessionStreams, uri)))
  return {
    listFields: new Set(servedListFields.map(([name]) => name)),
    uris: uniqueUris.filter((_, index) => subscribedFlags[index]),
  }
}

async function subscribeToResource(sessionStreams: SessionStreams, uri: string): Promise<boolean> {
  const userCount = sessionStreams.subscriptionCounts.get(uri) ?? 0
  sessionStreams.subscriptionCounts.set(uri, userCount + 1)
  if (userCount > 0) return true
  const response = await sendResourceRequest(sessionStreams, 'resources/subscribe', uri)
  if ('result' in response) return true
  sessionStreams.subscriptionCounts.delete(uri)
  return false
}

async function unsubscribeFromResource(sessionStreams: SessionStreams, uri: string): Promise<void> {
  const userCount = (sessionStreams.subscriptionCounts.get(uri) ?? 1) - 1
  if (userCount > 0) sessionStreams.subscriptionCounts.set(uri, userCount)
  else sessionStreams.subscriptionCounts.delete(uri)
  // A session that has ended has no subscriptions.
  if (userCount <= 0 && !sessionStreams.session.endSignal.aborted)
    await sendResourceRequest(sessionStreams, 'resources/unsubscribe', uri).catch(() => {})
}

function sendResourceRequest({ session }: SessionStreams, method: string, uri: string): Promise<RpcResponse> {
  const request: RpcRequest = { jsonrpc: '2.0', id: session.nextId(), method, params: { uri } }
  return session.port.send(request, session.endSignal, session.standaloneHandlers)
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

// server/resources: an update may be about a part of what was subscribed to.
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

function createListenResult(id: RequestId): JsonObject {
  return { resultType: 'complete', _meta: createSubscriptionMeta(id) }
}

/** Resolves when the stream or the session ends, and rejects when the call is cancelled. */
function waitForEnd(
  streamEndPromise: Promise<void> | undefined,
  call: Call,
  { endSignal }: LegacySession,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => finish(() => reject(abortReasonOf(call)))
    const end = (): void => finish(resolve)
    const finish = (settle: () => void): void => {
      offAbort(call.signal, cancel)
      offAbort(endSignal, end)
      settle()
    }
    onAbort(call.signal, cancel)
    onAbort(endSignal, end)
    if (isCancelled(call)) cancel()
    else if (endSignal.aborted) end()
    streamEndPromise?.then(end, end)
  })
}
