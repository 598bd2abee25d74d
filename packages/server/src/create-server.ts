import { createHostCount, type Implementation, type ListKind, type ServerApis, type ServerExtension } from '@x/schema'
import { type Composition, compose } from './compose.ts'
import { compileDefinition, infoOf } from './compile/compile-definition.ts'
import { exchangeOver, type ServerState } from './core-exchange.ts'
import { localOnly as withoutKeys, type ServerSettings, compileServerSettings } from './compile/settings.ts'
import { report } from './request/report.ts'
import type { McpServer, ServerDefinition, ServerOffers, TypesByName } from './definitions/server-definition.ts'
import { beginDrain, serverLoad } from './shedding/load-monitor.ts'
import { announce } from './replay/open-context.ts'
import { lists, resourceTopic } from './subscriptions/topics.ts'

/**
 * Makes a server of its definitions and extensions. Everything about them is checked and compiled here, once; a request allocates
 * its context and little else. Throws {@link DefinitionError}, which names what cannot be served and why.
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
  const info = Object.freeze(infoOf(definition))
  const state: ServerState = { catalog: compileDefinition(definition, settings.warn), settings, methods: new Map() }
  const composition = compose({
    core: exchangeOver(state),
    use: definition.use ?? [],
    extensions: definition.extensions ?? [],
    host: { info, runtime: settings.runtime, report: (error) => report(error, { method: 'extension' }, settings) },
  })
  state.methods = composition.methods
  const server = withMembers(memberOf(definition, state, composition), info, settings.loadMonitor)
  // The members are those of the extensions in the list, as their types say.
  return Object.assign(server, composition.apis) as McpServer<TypesByName<Tools, Prompts>> & ServerApis<Extensions>
}

type ServerMembers = Omit<McpServer, 'load' | 'info' | 'attachHost' | typeof Symbol.asyncDispose>

function memberOf(definition: ServerDefinition, state: ServerState, composition: Composition): ServerMembers {
  const { settings } = state
  const { subscriptions, loadMonitor } = settings
  let offered = definition

  function updateOffers(offers: ServerOffers): void {
    const next = {
      ...offered,
      tools: offers.tools ?? offered.tools,
      prompts: offers.prompts ?? offered.prompts,
      resources: offers.resources ?? offered.resources,
      resourceTemplates: offers.resourceTemplates ?? offered.resourceTemplates,
    }
    state.catalog = compileDefinition(next, settings.warn)
    offered = next
    for (const kind of kindsOf(offers)) void announce(kind, settings)
  }

  let closed: Promise<void> | undefined
  const { exchange, adapters, localOnly, needsPrincipal, receive } = composition
  return {
    exchange,
    adapters,
    needsPrincipal,
    receive,
    localOnly: definition.state === undefined ? withoutKeys : localOnly,
    update: updateOffers,
    notifyListChanged: (kind) => subscriptions.publish(kind),
    notifyResourceUpdated: (uri) => subscriptions.publish(resourceTopic(uri)),
    ready: async () => (await Promise.all([composition.ready(), isReady(definition, settings)])).every(Boolean),
    drain: () => {
      const undrains = [beginDrain(loadMonitor), composition.drain()]
      return () => {
        for (const undrain of undrains) undrain()
      }
    },
    close: (options = {}) => {
      closed ??= composition.close(options).finally(() => subscriptions.close())
      return closed
    },
  }

  async function isReady({ ready }: ServerDefinition, { onError }: ServerSettings): Promise<boolean> {
    try {
      return (await ready?.()) ?? true
    } catch (error) {
      report(error, { method: 'ready' }, { onError })
      return false
    }
  }
}

function withMembers(
  members: ServerMembers,
  info: Implementation,
  loadMonitor: ServerSettings['loadMonitor'],
): McpServer {
  return {
    ...members,
    info,
    get load() {
      return serverLoad(loadMonitor)
    },
    attachHost: createHostCount(members.close),
    [Symbol.asyncDispose]: () => members.close(),
  }
}

/** The lists that an update replaces. Templates are told of with resources: the protocol has one notification for both. */
function kindsOf({ tools, prompts, resources, resourceTemplates }: ServerOffers): readonly ListKind[] {
  const given = { tools, prompts, resources: resources ?? resourceTemplates }
  return lists.map(({ kind }) => kind).filter((kind) => given[kind] !== undefined)
}
