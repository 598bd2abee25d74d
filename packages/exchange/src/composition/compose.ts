import { callListener, errorRecord } from '@x/core'
import type { Call, Exchange, Middleware } from '../call/exchange.ts'
import { isMetaKey, type RpcNotification } from '@x/schema'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'
import { DefinitionError } from '../errors/definition-error.ts'
import type { Observer } from './event-source.ts'
import { createReadiness, type Readiness, type ReadinessCheck } from './readiness.ts'
import type { CloseOptions, Undrain } from '../server/server.ts'
import type { ToolSearchLayers } from '../server/tool-search.ts'
import type {
  ExtensionHost,
  ExtensionInstance,
  ExtensionMethod,
  ExtensionResources,
  ServerExtension,
} from '../server/server-extension.ts'

/** A server's started extensions, and its exchange: the core, the middleware of extensions, and that of `use`. */
export interface Composition {
  readonly exchange: Exchange
  /** Methods that extensions serve. */
  readonly methods: ReadonlyMap<string, ExtensionMethod>
  readonly adapters: ProtocolAdapters
  /** Resources of extensions with the names of the extensions, in their order. */
  readonly resources: readonly { readonly name: string; readonly resources: ExtensionResources }[]
  /** Members that extensions add to the server. */
  readonly apis: Readonly<Record<string, object>>
  /** Why only this machine may reach the server, as the first extension says that requires this. */
  readonly localOnly: string | undefined
  /** What the first extension says that cannot seal values for other instances. */
  readonly singleProcess: string | undefined
  readonly needsPrincipal: boolean
  /** Extensions that observe the server's events. */
  readonly observers: readonly Observer[]
  /** Readiness of the extensions and of the server's other parts. */
  readonly readiness: Readiness
  receive(notification: RpcNotification, call: Call): void
  drain(): Undrain
  close(options: CloseOptions): Promise<void>
}

interface StartedExtension {
  readonly extension: ServerExtension
  readonly instance: ExtensionInstance
}

const defaultGraceMs = 5000

const extensionContext = { method: 'extension' }

const reservedMemberNames = new Set(
  (
    'exchange info load ledger log emit adapters localOnly singleProcess needsPrincipal ready receive drain close ' +
    'notifyListChanged notifyResourceUpdated attachHost update then'
  ).split(' '),
)

/**
 * Starts a server's extensions and composes its exchange, from outside to inside: `use`, extensions that need a
 * principal, all others in their order, and the core. Throws {@link DefinitionError} for a list that cannot be
 * composed.
 */
export function composeServer({
  coreExchange,
  use,
  extensions,
  readinessChecks,
  host,
}: {
  readonly coreExchange: Exchange
  readonly use: readonly Middleware[]
  readonly extensions: readonly ServerExtension[]
  /** Readiness checks of the server, beside those of the extensions. */
  readonly readinessChecks: readonly ReadinessCheck[]
  readonly host: Omit<ExtensionHost, 'innerExchange' | 'exchange'>
}): Composition {
  checkExtensions(extensions)
  const exchangeByExtension = new Map<ServerExtension, Exchange>()
  let outermostExchange = coreExchange
  const exchange: Exchange = (request, call) => outermostExchange(request, call)
  const startedExtensions = extensions.map((extension): StartedExtension => {
    const innerExchange: Exchange = (request, call) =>
      (exchangeByExtension.get(extension) ?? coreExchange)(request, call)
    return { extension, instance: extension.start?.({ ...host, innerExchange, exchange }) ?? {} }
  })
  const authorizingExtensions = startedExtensions.filter(({ extension }) => extension.needsPrincipal === true)
  const otherExtensions = startedExtensions.filter(({ extension }) => extension.needsPrincipal !== true)
  for (const { extension } of startedExtensions) {
    exchangeByExtension.set(
      extension,
      applyMiddleware(
        coreExchange,
        otherExtensions.filter((other) => other.extension !== extension).flatMap(middlewareOf),
      ),
    )
  }
  outermostExchange = applyMiddleware(coreExchange, [
    ...use,
    ...[...authorizingExtensions, ...otherExtensions].flatMap(middlewareOf),
  ])
  return {
    exchange: outermostExchange,
    methods: methodsOf(startedExtensions),
    adapters: adaptersOf(startedExtensions),
    resources: resourcesOf(startedExtensions),
    apis: apisOf(startedExtensions),
    localOnly: startedExtensions
      .map(({ extension, instance }) => extension.localOnly ?? instance.localOnly)
      .find((reason) => reason !== undefined),
    singleProcess: startedExtensions
      .map(({ instance }) => instance.singleProcess)
      .find((reason) => reason !== undefined),
    needsPrincipal: authorizingExtensions.length > 0,
    observers: observersOf(startedExtensions),
    readiness: createReadiness(
      [...startedExtensions.map((started) => readinessCheckOf(started, host)), ...readinessChecks],
      host.runtime,
    ),
    ...createLifecycleMethods(startedExtensions, host),
  }
}

/**
 * Outside of `use`, and around the core. Further in, it would call tools past the rules outside of it, such as those of
 * `requireScopes`.
 */
export function placeToolSearch(
  layers: ToolSearchLayers | undefined,
  coreExchange: Exchange,
  use: readonly Middleware[] = [],
): { readonly coreExchange: Exchange; readonly use: readonly Middleware[] } {
  if (layers === undefined) return { coreExchange, use }
  return { coreExchange: layers.innermost(coreExchange), use: [layers.outermost, ...use] }
}

function createLifecycleMethods(startedExtensions: readonly StartedExtension[], { log }: Pick<ExtensionHost, 'log'>) {
  const closeExtension = async ({ instance }: StartedExtension, graceMs: number): Promise<void> => {
    try {
      await instance.close?.({ graceMs })
    } catch (error) {
      // Only logged, so that the other extensions are closed too.
      log(errorRecord(error, extensionContext))
    }
  }
  const report = (error: unknown): void => log(errorRecord(error, extensionContext))
  return {
    receive: (notification: RpcNotification, call: Call) => {
      for (const { extension, instance } of startedExtensions) {
        if (!extension.notifications?.includes(notification.method)) continue
        callListener((received) => instance.receive?.(received, call), notification, report)
      }
    },
    drain: (): Undrain => {
      const undrainFunctions = startedExtensions.map(({ instance }) => instance.drain?.())
      return () => {
        for (const undrain of undrainFunctions) undrain?.()
      }
    },
    close: async ({ graceMs = defaultGraceMs }: CloseOptions) => {
      await Promise.all(startedExtensions.map((each) => closeExtension(each, graceMs)))
    },
  }
}

function readinessCheckOf(
  { extension, instance }: StartedExtension,
  { log }: Pick<ExtensionHost, 'log'>,
): ReadinessCheck {
  return {
    name: extension.name,
    problem: `The extension "${extension.name}" cannot reach what it depends on`,
    consequence: 'calls that need it fail meanwhile',
    isRequired: () => instance.required === true,
    check: () => instance.ready?.(),
    report: (error) => log(errorRecord(error, extensionContext)),
  }
}

function applyMiddleware(coreExchange: Exchange, middleware: readonly Middleware[]): Exchange {
  return middleware.reduceRight((next, each) => each(next), coreExchange)
}

function middlewareOf({ extension, instance }: StartedExtension): readonly Middleware[] {
  return [extension.middleware, instance.middleware].filter((each) => each !== undefined)
}

function methodsOf(startedExtensions: readonly StartedExtension[]): ReadonlyMap<string, ExtensionMethod> {
  const methods = new Map<string, ExtensionMethod>()
  for (const { extension, instance } of startedExtensions) {
    for (const [name, method] of Object.entries(instance.methods ?? {})) {
      if (methods.has(name)) throw duplicateMemberError(extension, `the method ${name}`)
      methods.set(name, method)
    }
  }
  return methods
}

function adaptersOf(startedExtensions: readonly StartedExtension[]): ProtocolAdapters {
  const adapters = {}
  for (const { extension, instance } of startedExtensions) {
    for (const transport of Object.keys(instance.adapters ?? {})) {
      if (Object.hasOwn(adapters, transport))
        throw duplicateMemberError(extension, `the adapter of the transport ${transport}`)
    }
    Object.assign(adapters, instance.adapters)
  }
  return adapters
}

function observersOf(startedExtensions: readonly StartedExtension[]): readonly Observer[] {
  return startedExtensions.flatMap(({ instance }) =>
    instance.observe === undefined ? [] : [(event) => instance.observe?.(event)],
  )
}

function resourcesOf(startedExtensions: readonly StartedExtension[]): Composition['resources'] {
  return startedExtensions.flatMap(({ extension, instance: { resources } }) => {
    if ((resources !== undefined) !== (extension.servesResources === true)) {
      const reason = 'servesResources must be true if, and only if, start returns resources'
      throw new DefinitionError('value', `extension "${extension.name}"`, { reason })
    }
    return resources === undefined ? [] : [{ name: extension.name, resources }]
  })
}

function apisOf(startedExtensions: readonly StartedExtension[]): Readonly<Record<string, object>> {
  const apis: Record<string, object> = {}
  for (const { extension, instance } of startedExtensions) {
    if (instance.api !== undefined) apis[extension.name] = instance.api
  }
  return apis
}

function duplicateMemberError({ name }: ServerExtension, memberDescription: string): DefinitionError {
  return new DefinitionError('duplicate', `extension "${name}"`, {
    reason: `another extension has ${memberDescription} already`,
  })
}

function checkExtensions(extensions: readonly ServerExtension[]): void {
  const names = new Set<string>()
  const declaredIdentifiers = new Set<string>()
  for (const extension of extensions) {
    checkExtension(extension)
    const { name, identifier, capabilities } = extension
    if (names.has(name)) {
      const reason = 'the list has two extensions of this name; give one of them another'
      throw new DefinitionError('duplicate', `extension "${name}"`, { reason })
    }
    names.add(name)
    if (identifier === undefined || capabilities === undefined) continue
    if (declaredIdentifiers.has(identifier)) {
      const reason = `another extension declares capabilities as ${identifier} already; give one of them another identifier`
      throw new DefinitionError('duplicate', `extension "${name}"`, { reason })
    }
    declaredIdentifiers.add(identifier)
  }
}

function checkExtension(extension: ServerExtension): void {
  // A common mistake without types: the factory of an extension in place of its result.
  const candidate: unknown = extension
  const isExtension =
    typeof candidate === 'object' && candidate !== null && 'extends' in candidate && candidate.extends === 'server'
  if (!isExtension) {
    const reason = 'it is not a server extension; write the call, such as tasks({ store }), of the entry ./server'
    throw new DefinitionError('value', 'extensions', { reason })
  }
  const { name, identifier } = extension
  if (reservedMemberNames.has(name)) {
    const reason = `a server has a member of this name already; the name of an extension must be another`
    throw new DefinitionError('duplicate', `extension "${name}"`, { reason })
  }
  if (identifier !== undefined) checkExtensionIdentifier(identifier)
  if (identifier === undefined && extension.capabilities !== undefined) {
    const reason = 'it declares capabilities and has no identifier; give it one, as in "com.example/name"'
    throw new DefinitionError('value', `extension "${name}"`, { reason })
  }
}

/** An identifier needs a prefix (basic/versioning, extension negotiation). */
function checkExtensionIdentifier(identifier: string): void {
  if (!identifier.includes('/')) {
    const reason = 'its identifier must have a prefix, as in "com.example/name"'
    throw new DefinitionError('name', `extension ${JSON.stringify(identifier)}`, { reason })
  }
  if (isMetaKey(identifier)) return
  const reason = `the key ${JSON.stringify(identifier)} is not of the form "com.example/name"`
  throw new DefinitionError('name', 'extensions', { reason })
}
