import { createLedger, createLog, errorRecord, limitOutages, type Log, type Runtime, runtimeOf } from '@x/core'
import type { Exchange, Middleware } from '../call/exchange.ts'
import type { Implementation } from '@x/schema'
import { composeServer, type Composition, placeToolSearch } from './compose.ts'
import { createEventSource } from './event-source.ts'
import { createReadyFunction } from './readiness.ts'
import { createRelay, findOfferedMethod } from './relay.ts'
import { type CloseOptions, createAttachHost, type Server, type Undrain } from '../server/server.ts'
import type { HostStateCodec, ServerExtension } from '../server/server-extension.ts'
import type { ToolSearchLayers } from '../server/tool-search.ts'

/** What {@link serverOf} must know of a server beside its exchange. */
export interface ServerOfOptions
  extends Partial<Pick<Server, 'receive' | 'needsPrincipal' | 'ledger' | 'singleProcess'>> {
  readonly info: Implementation
  /**
   * Why only this machine may connect to the server, or undefined. Required, so that a program that wraps a server
   * cannot forget the reason.
   */
  readonly localOnly: string | undefined
  /** Goes around every call, outside the middleware of extensions. */
  readonly use?: readonly Middleware[] | undefined
  /** Extensions of the server, such as `legacy()` for clients of older revisions. */
  readonly extensions?: readonly ServerExtension[] | undefined
  /** A search over the tools of the exchange, around everything else. */
  readonly toolSearch?: ToolSearchLayers | undefined
  /** Seals values of extensions. Every instance needs the same keys. */
  readonly state?: HostStateCodec | undefined
  /** Default: a log that writes lines to the standard error. */
  readonly log?: Log | undefined
  /** Clock and randomness of the extensions. Default: the platform's. */
  readonly runtime?: Partial<Runtime> | undefined
  /** False while calls cannot be served. Default: always ready. */
  ready?(): boolean | Promise<boolean>
  /** Closes what the exchange uses, after the extensions. */
  close?(options: CloseOptions): Promise<void>
}

/**
 * Makes a server of an exchange, for tests, proxies and gateways. It announces revision 2026-07-28 alone, and the
 * capabilities of its extensions beside those of the exchange. Its `notifyListChanged` and `notifyResourceUpdated` do
 * nothing, and `load.running` counts only the work of extensions.
 *
 * @example
 * await serveHttp(serverOf(connectHttp(url).exchange, { info, localOnly: undefined }))
 *
 * @throws {@link DefinitionError} for extensions that cannot be combined.
 */
export function serverOf(exchange: Exchange, serverOptions: ServerOfOptions): Server {
  const { info, extensions = [], needsPrincipal = false, localOnly, ledger = createLedger() } = serverOptions
  const events = createEvents(serverOptions)
  const { log } = events
  let methods: Composition['methods'] = new Map()
  const work = createWorkCounter()
  const relay = createRelay(exchange, extensions, (name) => methods.get(name), log)
  const composition = composeServer({
    ...placeToolSearch(serverOptions.toolSearch, relay, serverOptions.use),
    extensions,
    readinessChecks: [],
    host: {
      ...createHostConstants(serverOptions),
      ledger,
      log,
      beginWork: work.begin,
      emit: (event) => events.emit?.(event),
      offers: ({ method }) => findOfferedMethod(method, methods),
    },
  })
  methods = composition.methods
  events.observe(composition.observers)
  const drains = createWorkCounter()
  let closePromise: Promise<void> | undefined
  const close = (options: CloseOptions = {}): Promise<void> => {
    closePromise ??= composition
      .close(options)
      .then(() => serverOptions.close?.(options))
      .catch((error: unknown) => log(errorRecord(error, { method: 'close' })))
    return closePromise
  }
  const members: Server = {
    exchange: composition.exchange,
    info,
    get load() {
      const unavailable = composition.readiness.unavailableNames()
      const isDraining = drains.count() > 0
      return { ready: !isDraining, draining: isDraining, running: work.count(), unavailable }
    },
    ledger,
    log,
    emit: events.emit,
    adapters: composition.adapters,
    localOnly: localOnly ?? composition.localOnly,
    singleProcess: serverOptions.singleProcess ?? composition.singleProcess,
    needsPrincipal: needsPrincipal || composition.needsPrincipal,
    ready: createReadyFunction(composition, serverOptions, { log }),
    notifyListChanged: () => Promise.resolve(),
    notifyResourceUpdated: () => Promise.resolve(),
    receive: (notification, call) => {
      composition.receive(notification, call)
      serverOptions.receive?.(notification, call)
    },
    drain: () => joinUndrain(drains.begin(), composition.drain()),
    close,
    attachHost: createAttachHost(close),
    [Symbol.asyncDispose]: () => close(),
  }
  // On the server itself, as those of `createServer` are.
  return Object.defineProperties(members, Object.getOwnPropertyDescriptors(composition.apis))
}

function createEvents({ log, runtime }: ServerOfOptions) {
  return createEventSource(limitOutages(createLog(log, '@x/exchange'), runtimeOf(runtime)).log)
}

function createHostConstants({ info, state, runtime }: ServerOfOptions) {
  return {
    info,
    state,
    runtime: runtimeOf(runtime),
    bus: undefined,
    tools: () => [],
    notifyListChanged: () => Promise.resolve(),
    notifyResourceUpdated: () => Promise.resolve(),
  }
}

function joinUndrain(first: Undrain, second: Undrain): Undrain {
  return () => {
    first()
    second()
  }
}

function createWorkCounter() {
  let count = 0
  return {
    count: () => count,
    begin: () => {
      count += 1
      let isRunning = true
      return () => {
        if (isRunning) count -= 1
        isRunning = false
      }
    },
  }
}
