import type { HttpLimits, HttpProtocolAdapter, HttpReply, Principal, Server } from '@x/exchange'
import { createClientContext } from './call-context.ts'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import { eventStreamHeaders, keepAliveComment } from './reply.ts'
import type { HttpAdapter, RequestView } from './http-adapter.ts'
import type { HandlerSettings } from './handler-settings.ts'

/** A request that an adapter handles and that is still being answered. */
export interface AdapterRequest extends IndexedEntry {
  readonly stop: (phase: 'draining' | 'closing') => void
}

/** What an adapter's requests use of a handler's context. */
export interface AdapterContext<Source, Target> {
  readonly adapterRequests: AdapterRequest[]
  readonly server: Server
  readonly settings: HandlerSettings<Source>
  readonly httpAdapter: HttpAdapter<Source, Target>
}

/** A request for an adapter, with what the checks before found. */
export interface AcceptedRequest<Source, Target> {
  readonly target: Target
  readonly view: RequestView<Source>
  readonly bodyText: string
  readonly principal: Principal | undefined
  /** Headers of every answer, as alternating names and values. */
  readonly headers: readonly string[]
}

/** Passes a request to the adapter. False if the adapter leaves it, because it is a request of this revision. */
export function handToAdapter<Source, Target>(
  request: AcceptedRequest<Source, Target>,
  adapter: HttpProtocolAdapter,
  context: AdapterContext<Source, Target>,
): boolean | Promise<boolean> {
  const { view, bodyText, principal } = request
  return adapter.handle({
    method: view.method,
    header: (name) => view.header(name),
    bodyText,
    principal,
    context: createClientContext(context.settings.clientAddress?.(view)),
    limits: createHttpLimits(context, view),
    reply: createHttpReply(request, context),
    toHttpError: (error, failedRequest) =>
      context.settings.toHttpError?.(error, { request: failedRequest, principal, log: context.server.log }),
  })
}

function createHttpLimits<Source>(
  { settings, server }: Pick<AdapterContext<Source, never>, 'settings' | 'server'>,
  view: RequestView<Source>,
): HttpLimits {
  const { bounds, timeoutMs, keepAliveMs, maxQueuedBytes, schedule } = settings
  return {
    bounds,
    timeoutMs,
    keepAliveMs,
    maxQueuedBytes,
    schedule,
    onError: (error) => settings.onError(error, view),
    log: server.log,
  }
}

function createHttpReply<Source, Target>(
  { target, headers: baseHeaders }: AcceptedRequest<Source, Target>,
  context: AdapterContext<Source, Target>,
): HttpReply {
  const { httpAdapter, settings, adapterRequests } = context
  const closeListeners: (() => void)[] = []
  const stopListeners: ((phase: 'draining' | 'closing') => void)[] = []
  const entry: AdapterRequest = {
    index: -1,
    stop: (phase) => {
      for (const run of stopListeners) run(phase)
    },
  }
  let cancelHeartbeat = (): void => {}
  const scheduleHeartbeat = (): void => {
    if (settings.keepAliveMs === Number.POSITIVE_INFINITY) return
    cancelHeartbeat = settings.schedule(() => {
      if (httpAdapter.countQueuedBytes(target) === 0) httpAdapter.write(target, keepAliveComment)
      scheduleHeartbeat()
    }, settings.keepAliveMs)
  }
  // A request whose answer is sent at once need not be tracked.
  const trackReply = (): void => {
    if (entry.index !== -1) return
    addToList(adapterRequests, entry)
    httpAdapter.onClose(target, () => {
      cancelHeartbeat()
      removeFromList(adapterRequests, entry)
      for (const run of closeListeners) run()
    })
  }
  return {
    send: ({ status, headers = [], body }) =>
      httpAdapter.send(target, { status, headers: [...headers, ...baseHeaders], ...(body !== undefined && { body }) }),
    open(headers = []) {
      httpAdapter.open(target, [...eventStreamHeaders, ...headers, ...baseHeaders])
      // Node sends the head together with the first byte of the body; with this comment, it does so at once.
      httpAdapter.write(target, keepAliveComment)
      trackReply()
      scheduleHeartbeat()
    },
    write: (text) => httpAdapter.write(target, text),
    end() {
      cancelHeartbeat()
      httpAdapter.end(target, '')
    },
    countQueuedBytes: () => httpAdapter.countQueuedBytes(target),
    waitForDrain: () => httpAdapter.waitForDrain(target),
    onClose(run) {
      closeListeners.push(run)
      trackReply()
    },
    onStop(run) {
      stopListeners.push(run)
      trackReply()
    },
  }
}
