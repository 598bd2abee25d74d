import { DefinitionError, type ExtensionMethod, type ListKind } from '@x/exchange'
import type { Composition } from '@x/exchange/internal'
import { findMethodRow } from '@x/schema'
import type { Catalog } from './compile/catalog.ts'
import { compileDefinition } from './compile/compile-definition.ts'
import type { ServerSettings } from './compile/settings.ts'
import type { ServerDefinition, ServerOffers } from './definitions/server-definition.ts'
import type { Tool } from './definitions/tool.ts'
import { publishTopic } from './replay/publish-topic.ts'
import { listChangeKinds } from './subscriptions/topics.ts'

/** The parts of a server that are read while it handles a request. */
export class ServerState {
  readonly settings: ServerSettings
  catalog: Catalog
  /** Undefined until extensions are added. */
  methods: ReadonlyMap<string, ExtensionMethod> | undefined
  extensionResources: Composition['resources'] = []
  /** Earlier revisions, which an extension's adapter speaks. */
  olderRevisions: readonly string[] = []
  #definition: ServerDefinition

  constructor(definition: ServerDefinition, settings: ServerSettings) {
    this.#definition = definition
    this.settings = settings
    this.catalog = compileDefinition(definition, settings.warn)
  }

  /** Tools as the author defined them. */
  get tools(): readonly Tool[] {
    return this.#definition.tools ?? []
  }

  /** Extensions start after the exchange was created, so what they offer comes later. */
  addExtensions({ methods, resources, adapters }: Composition): void {
    const ownMethod = [...methods.keys()].find((name) => findMethodRow(name) !== undefined)
    if (ownMethod !== undefined) {
      const reason = `the server serves ${ownMethod} itself; give the extension's method another name, or write a middleware`
      throw new DefinitionError('duplicate', 'extensions', { reason })
    }
    this.methods = methods
    this.extensionResources = resources
    this.olderRevisions = adapters.http?.revisions ?? []
  }

  /** Replaces the definitions that an update names, and notifies the clients that listen. */
  update(offers: ServerOffers): void {
    const current = this.#definition
    const nextDefinition = {
      ...current,
      tools: offers.tools ?? current.tools,
      prompts: offers.prompts ?? current.prompts,
      resources: offers.resources ?? current.resources,
      resourceTemplates: offers.resourceTemplates ?? current.resourceTemplates,
    }
    this.catalog = compileDefinition(nextDefinition, this.settings.warn)
    this.#definition = nextDefinition
    for (const kind of listKindsOf(offers)) void publishTopic(kind, this.settings)
  }
}

/** Templates count as resources here, because the protocol has one notification for both. */
function listKindsOf({ tools, prompts, resources, resourceTemplates }: ServerOffers): readonly ListKind[] {
  const offersByKind = { tools, prompts, resources: resources ?? resourceTemplates }
  return listChangeKinds.map(({ kind }) => kind).filter((kind) => offersByKind[kind] !== undefined)
}
