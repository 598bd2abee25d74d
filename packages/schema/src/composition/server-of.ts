import {
  abortReasonOf,
  createLedger,
  createLog,
  errorRecord,
  isCancelled,
  isJsonObject,
  type JsonObject,
  type Log,
  type Runtime,
  runtimeOf,
} from '@x/core'
import type { Call, Exchange, Middleware } from '../basic/exchange.ts'
import type { Implementation } from '../basic/implementation.ts'
import { errorResponse, errorCodes, isMcpError, McpError } from '../basic/mcp-error.ts'
import { metaKeys } from '../basic/meta-keys.ts'
import { protocolVersion } from '../basic/revision.ts'
import type { RpcRequest, RpcResponse } from '../basic/rpc.ts'
import { requestMetaOf } from '../methods/check-params.ts'
import { findMethodRow } from '../methods/methods.ts'
import { composeServer, type Composition } from './compose.ts'
import { DefinitionError } from './definition-error.ts'
import { createEventSource } from './event-source.ts'
import { type CloseOptions, createAttachHost, type Server } from './server.ts'
import type { ExtensionHost, ExtensionMethod, HostStateCodec, ServerExtension } from './server-extension.ts'

/** The parts of a server that an exchange does not have. */
export interface ServerParts extends Partial<Pick<Server, 'receive' | 'needsPrincipal'>> {
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
 * announces the capabilities of its extensions in addition to those of the exchange.
 *
 * @example
 * await serveHttp(serverOf(connectHttp(url).exchange, { info, localOnly: undefined }))
 *
 * @throws {@link DefinitionError} for extensions that cannot be combined.
 */
export function serverOf(exchange: Exchange, parts: ServerParts): Server {
  const { info, extensions = [], needsPrincipal = false, localOnly } = parts
  const ledger = createLedger()
  const events = createEventSource(createLog(parts.log, '@x/schema'))
  const { log } = events
  let methods: Composition['methods'] = new Map()
  const work = createWorkCounter()
  const composition = composeServer({
    coreExchange: createRelay(exchange, { extensions, log, findMethod: (name) => methods.get(name) }),
    use: parts.use ?? [],
    extensions,
    parts: [],
    host: {
      info,
      ledger,
      log,
      state: parts.state,
      beginWork: work.begin,
      emit: (event) => events.emit?.(event),
      offers: ({ method }) => (methods.has(method) || findMethodRow(method) ? { method, name: undefined } : undefined),
      ...createHost(parts),
    },
  })
  methods = composition.methods
  events.observe(composition.observers)
  const drains = createWorkCounter()
  let closePromise: Promise<void> | undefined
  const close = (options: CloseOptions = {}): Promise<void> => {
    closePromise ??= composition.close(options).then(() => parts.close?.(options))
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
    needsPrincipal: needsPrincipal || composition.needsPrincipal,
    ready: async () => (await Promise.all([composition.readiness.ready(), isReady(parts, log)])).every(Boolean),
    notifyListChanged: () => Promise.resolve(),
    notifyResourceUpdated: () => Promise.resolve(),
    receive: (notification, call) => {
      composition.receive(notification, call)
      parts.receive?.(notification, call)
    },
    drain: () => {
      const undrainFunctions = [drains.begin(), composition.drain()]
      return () => {
        for (const undrain of undrainFunctions) undrain()
      }
    },
    close,
    attachHost: createAttachHost(close),
    [Symbol.asyncDispose]: () => close(),
  }
  // The members of extensions are on the server, as those of `createServer` are.
  return Object.defineProperties(members, Object.getOwnPropertyDescriptors(composition.apis))
}

type ConstantHostMember = 'runtime' | 'bus' | 'tools' | 'runsOnlyTasks' | 'notifyListChanged' | 'notifyResourceUpdated'

function createHost({ runtime }: ServerParts): Pick<ExtensionHost, ConstantHostMember> {
  return {
    runtime: runtimeOf(runtime),
    bus: undefined,
    tools: () => [],
    runsOnlyTasks: () => false,
    notifyListChanged: () => Promise.resolve(),
    notifyResourceUpdated: () => Promise.resolve(),
  }
}

/** Throws for an extension whose resources would be missing from the lists of the exchange. */
function rejectResources(extensions: readonly ServerExtension[]): void {
  const extension = extensions.find(({ servesResources }) => servesResources === true)
  if (extension === undefined) return
  const reason = 'serves resources, which only a server of createServer can list; add the extension there'
  throw new DefinitionError('value', `extension "${extension.name}"`, { reason })
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

async function isReady({ ready }: ServerParts, log: Log): Promise<boolean> {
  try {
    return (await ready?.()) ?? true
  } catch (error) {
    log(errorRecord(error, { method: 'ready' }))
    return false
  }
}

interface RelayOptions {
  readonly extensions: readonly ServerExtension[]
  readonly log: Log
  readonly findMethod: (name: string) => ExtensionMethod | undefined
}

/** Creates the innermost exchange: it serves the methods of extensions, and relays every other request. */
function createRelay(exchange: Exchange, { extensions, log, findMethod }: RelayOptions): Exchange {
  rejectResources(extensions)
  const declared = declarationsOf(extensions)
  return (request, call) => {
    const method = findMethod(request.method)
    if (method !== undefined) return serveExtensionMethod(method, request, { call, log })
    if (request.method !== 'server/discover') return exchange(request, call)
    return exchange(request, call).then((response) => announce(response, declared))
  }
}

async function serveExtensionMethod(
  method: ExtensionMethod,
  request: RpcRequest,
  { call, log }: { readonly call: Call; readonly log: Log },
): Promise<RpcResponse> {
  try {
    const requested = requestMetaOf(request.params)[metaKeys.protocolVersion]
    if (requested !== protocolVersion) {
      const message = `Unsupported protocol version: this server speaks ${protocolVersion}`
      const data = { supported: [protocolVersion], requested }
      throw new McpError(errorCodes.unsupportedProtocolVersion, message, { data })
    }
    return { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', ...(await method(request, call)) } }
  } catch (error) {
    if (isCancelled(call)) throw abortReasonOf(call)
    if (!isMcpError(error)) log(errorRecord(error, { method: request.method }))
    return errorResponse(request.id, error)
  }
}

interface Declarations {
  readonly serverCapabilities: JsonObject
  readonly extensions: JsonObject
}

function declarationsOf(extensions: readonly ServerExtension[]): Declarations {
  const declared = extensions.filter(({ capabilities }) => capabilities !== undefined)
  return {
    serverCapabilities: Object.assign({}, ...extensions.map(({ serverCapabilities }) => serverCapabilities)),
    extensions: Object.fromEntries(declared.map(({ identifier = '', capabilities = {} }) => [identifier, capabilities])),
  }
}

/**
 * Replaces the revisions in a result of `server/discover` by that of this server, because the exchange may belong to a
 * server that speaks other revisions too. Adds the capabilities of the extensions.
 */
function announce(response: RpcResponse, declared: Declarations): RpcResponse {
  if ('error' in response || response.result['supportedVersions'] === undefined) return response
  const capabilities = { ...asObject(response.result['capabilities']), ...declared.serverCapabilities }
  const extensions = { ...asObject(capabilities['extensions']), ...declared.extensions }
  const withExtensions = Object.keys(extensions).length === 0 ? capabilities : { ...capabilities, extensions }
  return {
    ...response,
    result: { ...response.result, supportedVersions: [protocolVersion], capabilities: withExtensions },
  }
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
