import type { HttpLimits, HttpProtocolAdapter, HttpReply, Principal } from '@x/schema'
import { clientContext } from './call-context.ts'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import { eventStreamHeaders, keepAliveComment } from './reply.ts'
import type { HttpAdapter } from './http-adapter.ts'
import type { RequestView } from './request-view.ts'
import type { HandlerSettings } from './settings.ts'

/** A request that an adapter handles, while it is answered. */
export interface AdapterRequest extends IndexedEntry {
  readonly stop: (phase: 'draining' | 'closing') => void
}

/** State that the requests of an adapter share with the others of a handler. */
export interface AdapterContext<Source, Target> {
  readonly adapter: HttpProtocolAdapter | undefined
  readonly adapterRequests: AdapterRequest[]
  readonly settings: HandlerSettings<Source>
  readonly platform: HttpAdapter<Source, Target>
}

/** Facts of a request when it is handed to an adapter. */
export interface AdmittedRequest<Source, Target> {
  readonly target: Target
  readonly view: RequestView<Source>
  readonly text: string
  readonly principal: Principal | undefined
  /** Headers, flat, that every answer carries. */
  readonly headers: readonly string[]
}

/** Hands a request to the adapter; false when it is one of this revision. */
export function handToAdapter<Source, Target>(
  request: AdmittedRequest<Source, Target>,
  adapter: HttpProtocolAdapter,
  context: AdapterContext<Source, Target>,
): boolean | Promise<boolean> {
  const { view, text, principal } = request
  return adapter.handle({
    method: view.method,
    header: (name) => view.header(name),
    text,
    principal,
    context: clientContext(context.settings.clientAddress?.(view)),
    limits: limitsOf(context.settings, view),
    reply: replyOf(request, context),
    toHttpError: (error) => context.settings.toHttpError?.(error),
  })
}

function limitsOf<Source>(settings: HandlerSettings<Source>, view: RequestView<Source>): HttpLimits {
  const { bounds, timeoutMs, keepAliveMs, maxQueuedBytes, schedule } = settings
  return {
    bounds,
    timeoutMs,
    keepAliveMs,
    maxQueuedBytes,
    schedule,
    onError: (error) => settings.onError(error, view),
  }
}

function replyOf<Source, Target>(
  { target, headers: always }: AdmittedRequest<Source, Target>,
  context: AdapterContext<Source, Target>,
): HttpReply {
  const { platform, settings, adapterRequests } = context
  const closed: (() => void)[] = []
  const stopped: ((phase: 'draining' | 'closing') => void)[] = []
  const entry: AdapterRequest = {
    index: -1,
    stop: (phase) => {
      for (const run of stopped) run(phase)
    },
  }
  let cancelBeat = (): void => {}
  const beat = (): void => {
    if (settings.keepAliveMs === Number.POSITIVE_INFINITY) return
    cancelBeat = settings.schedule(() => {
      if (platform.queued(target) === 0) platform.write(target, keepAliveComment)
      beat()
    }, settings.keepAliveMs)
  }
  // An answer that is sent at once needs neither a place in the roster nor a listener.
  const follow = (): void => {
    if (entry.index !== -1) return
    addToList(adapterRequests, entry)
    platform.onClose(target, () => {
      cancelBeat()
      removeFromList(adapterRequests, entry)
      for (const run of closed) run()
    })
  }
  return {
    send: ({ status, headers = [], body }) =>
      platform.send(target, { status, headers: [...headers, ...always], ...(body !== undefined && { body }) }),
    open(headers = []) {
      platform.open(target, [...eventStreamHeaders, ...headers, ...always])
      // Node sends the head with the first byte of the body, which may be long in coming.
      platform.write(target, keepAliveComment)
      follow()
      beat()
    },
    write: (text) => platform.write(target, text),
    end() {
      cancelBeat()
      platform.end(target, '')
    },
    queued: () => platform.queued(target),
    drained: () => platform.drained(target),
    onClose(run) {
      closed.push(run)
      follow()
    },
    onStop(run) {
      stopped.push(run)
      follow()
    },
  }
}
