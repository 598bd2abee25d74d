import { createAttachHost, type SearchedServer, type ServerApis, type ServerExtension } from '@x/exchange'
import { type Composition, composeServer, createReadyFunction, placeToolSearch } from '@x/exchange/internal'
import { findVisibleEntry } from './compile/catalog.ts'
import { requireServerInfo } from './compile/compile-definition.ts'
import { createCoreExchange, findOfferedTarget } from './core-exchange.ts'
import { ServerState } from './server-state.ts'
import { randomKeyReason, type ServerSettings, compileServerSettings } from './compile/settings.ts'
import { reportServerError } from './request/report.ts'
import type { McpServer, ServerDefinition, ServerOffers, TypesByName } from './definitions/server-definition.ts'
import { createEmitDrain } from './shedding/drain.ts'
import { resourceTopic } from './subscriptions/topics.ts'

/**
 * Makes a server of definitions and extensions. Everything is checked and compiled here once, so that a request
 * allocates little more than its context. Throws a {@link DefinitionError} that says what cannot be served and why, and
 * `RangeError` for a number in `limits`, in `shedding.hardLimit` or of `maxArgumentElements` that is out of range.
 *
 * @example
 * const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet], extensions: [tasks({ store })] })
 */
export function createServer<
  const Extensions extends readonly ServerExtension[] = readonly [],
  const Tools extends NonNullable<ServerOffers['tools']>[number] = never,
  const Prompts extends NonNullable<ServerOffers['prompts']>[number] = never,
>(
  definition: ServerDefinition<Extensions, Tools, Prompts>,
): McpServer<TypesByName<Tools, Prompts>> & ServerApis<Extensions> {
  const settings = compileServerSettings(definition)
  const info = Object.freeze(requireServerInfo(definition))
  const state = new ServerState(definition, settings)
  const composition = composeServer({
    ...placeToolSearch(
      definition.toolSearch?.start(searchedServerOf(state, info)),
      createCoreExchange(state),
      definition.use,
    ),
    extensions: definition.extensions ?? [],
    readinessChecks: settings.readinessChecks,
    host: {
      info,
      ledger: settings.ledger,
      runtime: settings.runtime,
      state: settings.sharedStateCodec,
      bus: definition.subscriptions === false ? undefined : definition.subscriptions?.bus,
      tools: () => state.tools,
      beginWork: () => beginExtensionWork(settings),
      log: settings.log,
      emit: (event) => settings.events.emit?.(event),
      offers: (request) => findOfferedTarget(request, state),
      notifyListChanged: (kind) => settings.subscriptions.publish(kind),
      notifyResourceUpdated: (uri) => settings.subscriptions.publish(resourceTopic(uri)),
    },
  })
  state.addExtensions(composition)
  settings.events.observe(composition.observers)
  const server = createMcpServer(definition, info, state, composition)
  // The cast is safe: the members come from the extensions in the list, and the types say the same.
  return Object.assign(server, composition.apis) as McpServer<TypesByName<Tools, Prompts>> & ServerApis<Extensions>
}

function searchedServerOf(state: ServerState, info: McpServer['info']): SearchedServer {
  return {
    info,
    findTool: (name, _, call) => findVisibleEntry(state.catalog.tools, name, call)?.wireEntry,
    headerParamsOf: (name) => state.catalog.tools.byKey.get(name)?.headerParams,
  }
}

function beginExtensionWork({ loadMonitor }: ServerSettings): () => void {
  let isRunning = true
  loadMonitor.beginWork()
  return () => {
    if (isRunning) loadMonitor.endWork()
    isRunning = false
  }
}

function createMcpServer(
  definition: ServerDefinition,
  info: McpServer['info'],
  state: ServerState,
  composition: Composition,
): McpServer {
  const { settings } = state
  const { subscriptions, loadMonitor, events, log } = settings
  const emitDrain = createEmitDrain(loadMonitor, events, log)

  let closePromise: Promise<void> | undefined
  const close: McpServer['close'] = (options = {}) => {
    // The handlers that still run are then lost.
    if (closePromise === undefined && loadMonitor.drains.isDraining) emitDrain('drain_ended')
    closePromise ??= composition
      .close(options)
      .finally(() => subscriptions.close())
      .then(() => closeResources(definition, settings))
    return closePromise
  }
  const { exchange, adapters, localOnly, singleProcess, needsPrincipal, receive } = composition
  return {
    exchange,
    info,
    get load() {
      return { ...loadMonitor.readServerLoad(), unavailable: composition.readiness.unavailableNames() }
    },
    ledger: settings.ledger,
    log: settings.log,
    emit: settings.events.emit,
    adapters,
    needsPrincipal,
    receive,
    localOnly,
    singleProcess: definition.state === undefined ? randomKeyReason : singleProcess,
    update: (offers) => state.update(offers),
    notifyListChanged: (kind) => subscriptions.publish(kind),
    notifyResourceUpdated: (uri) => subscriptions.publish(resourceTopic(uri)),
    ready: createReadyFunction(composition, definition, {
      log: settings.log,
      refusal: 'The option `ready` returned false: the server is not ready',
    }),
    drain: (options) => {
      const undrainFunctions = [loadMonitor.beginDrain(options, emitDrain), composition.drain()]
      return () => {
        for (const undrain of undrainFunctions) undrain()
      }
    },
    close,
    attachHost: createAttachHost(close),
    [Symbol.asyncDispose]: () => close(),
  }
}

/** Calls the author's `close` last, when nothing can use the author's resources any more. */
async function closeResources({ close }: ServerDefinition, settings: ServerSettings): Promise<void> {
  try {
    await close?.()
  } catch (error) {
    reportServerError(error, { method: 'close' }, settings)
  }
}
