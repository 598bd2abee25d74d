import { createLedger, createLog, errorRecord, type Log, type Runtime, runtimeOf } from '@x/core'
import type { Exchange, Middleware } from '../call/exchange.ts'
import type { Implementation } from '@x/schema'
import { composeServer, type Composition, placeToolSearch } from './compose.ts'
import { createEventSource } from './event-source.ts'
import { isReady } from './readiness.ts'
import { createRelay, findOfferedMethod } from './relay.ts'
import { type CloseOptions, createAttachHost, type Server, type Undrain } from '../server/server.ts'
import type { ExtensionHost, HostStateCodec, ServerExtension } from '../server/server-extension.ts'
import type { ToolSearchLayers } from '../server/tool-search.ts'

/** Options of {@link serverOf}: the members of a server that an exchange does not have. */
export interface ServerOfOptions
  extends Partial<Pick<Server, 'receive' | 'needsPrincipal' | 'ledger' | 'singleProcess'>> {
  readonly info: Implementation
  /**
   * The reason why only this machine may connect to the server, or undefined. The member is required, so that a program
   * that wraps a server cannot forget the reason.
   */
  readonly localOnly: string | undefined
  /** Middleware around every call, outside the middleware of extensions. */
  readonly use?: readonly Middleware[] | undefined
  /** The extensions of the server, such as `legacy()` for clients of older revisions. */
  readonly extensions?: readonly ServerExtension[] | undefined
  /** A search over the tools of the exchange, around everything else. */
  readonly toolSearch?: ToolSearchLayers | undefined
  /** The codec for the values that extensions seal. Every instance needs the same keys. */
  readonly state?: HostStateCodec | undefined
  /** The log. Default: a log that writes lines to the standard error. */
  readonly log?: Log | undefined
  /** The clock and the randomness of the extensions. Default: those of the platform. */
  readonly runtime?: Partial<Runtime> | undefined
  /** Returns false while calls cannot be served. Default: the server is always ready. */
  ready?(): boolean | Promise<boolean>
  /** Closes what the exchange uses, after the extensions. */
  close?(options: CloseOptions): Promise<void>
}

/**
 * Creates a server from an exchange, for tests, proxies and gateways. The server announces only revision 2026-07-28. It
 * announces the capabilities of its extensions in addition to those of the exchange. `notifyListChanged` and
 * `notifyResourceUpdated` of it do nothing, and `load.running` counts only the work of extensions.
 *
 * @example
 * await serveHttp(serverOf(connectHttp(url).exchange, { info, localOnly: undefined }))
 *
 * @throws {@link DefinitionError} for extensions that cannot be combined.
 */
export function serverOf(exchange: Exchange, serverOptions: ServerOfOptions): Server {
  const { info, extensions = [], needsPrincipal = false, localOnly, ledger = createLedger() } = serverOptions
  const events = createEventSource(createLog(serverOptions.log, '@x/exchange'))
  const { log } = events
  let methods: Composition['methods'] = new Map()
  const work = createWorkCounter()
  const relay = createRelay(exchange, extensions, (name) => methods.get(name), log)
  const composition = composeServer({
    ...placeToolSearch(serverOptions.toolSearch, relay, serverOptions.use),
    extensions,
    readinessChecks: [],
    host: {
      ...createHost(serverOptions),
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
    ready: () => isReady(composition, serverOptions, (error) => log(errorRecord(error, { method: 'ready' }))),
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
  // The members of extensions are on the server, as those of `createServer` are.
  return Object.defineProperties(members, Object.getOwnPropertyDescriptors(composition.apis))
}

type ConstantHostMember = 'info' | 'state' | 'runtime' | 'bus' | 'tools' | 'notifyListChanged' | 'notifyResourceUpdated'

function createHost({ info, state, runtime }: ServerOfOptions): Pick<ExtensionHost, ConstantHostMember> {
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

/** Counts what has begun and has not ended. */
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
