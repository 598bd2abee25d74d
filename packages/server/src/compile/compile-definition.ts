import { type ServerExtension, DefinitionError } from '@x/exchange'
import {
  type Implementation,
  isJsonObject,
  type JsonObject,
  metaKeys,
  prepareResult,
  protocolVersion,
  type ServerCapabilities,
} from '@x/schema'
import {
  type Catalog,
  type CompiledDefinition,
  type CompiledPrompt,
  type CompiledResource,
  type CompiledTemplate,
  type CompiledTool,
  createListing,
  type ListField,
  type Listing,
} from './catalog.ts'
import { compileCacheHints } from './compile-entry.ts'
import { compilePrompt } from './compile-prompt.ts'
import { compileResource, compileTemplate } from './compile-resource.ts'
import { findHostProblems } from '../json-schema/host-limits.ts'
import { compileTool, hasKeyedEffects, idempotentCallsExtension } from './compile-tool.ts'
import { describeType, freezeJsonObject } from '../request/json-copy.ts'
import { readInternalSettings } from '../definitions/internal-settings.ts'
import type { ServerDefinition } from '../definitions/server-definition.ts'
import type { ServerWarning } from '../request/report.ts'

type Warn = (warning: ServerWarning) => void

/** Lists seldom change and usually are the same for every caller. */
const defaultListCacheHints = { ttlMs: 300_000, scope: 'public' } as const

/**
 * Compiles a server's definitions into a catalog with schemas, validators and lists in their final form, so that
 * requests only look things up. Throws a {@link DefinitionError} that names the invalid definition.
 */
export function compileDefinition(definition: ServerDefinition, warn: Warn): Catalog {
  checkEntries(definition)
  const resultMeta = resultMetaOf(definition)
  const buildListing = createListingFactory(definition, resultMeta)
  const tools = (definition.tools ?? []).map((tool) => compileTool(tool, definition.compileSchema))
  warnOfHostProblems(tools, definition, warn)
  const prompts = (definition.prompts ?? []).map((prompt) => compilePrompt(prompt, definition.compileSchema))
  const resources = (definition.resources ?? []).map(compileResource)
  const templates = (definition.resourceTemplates ?? []).map(compileTemplate)
  rejectTasksWithoutExtension(definition)
  checkToolSearch(definition, warn)
  for (const compiled of [...tools, ...prompts, ...resources, ...templates]) requireExtension(compiled, definition)
  const capabilities = buildServerCapabilities(definition, [...prompts, ...templates])
  return {
    capabilities,
    resultMeta,
    discoverResult: buildDiscoverResult(definition, capabilities),
    tools: buildListing('tools', tools),
    prompts: buildListing('prompts', prompts),
    resources: buildListing('resources', resources),
    templates: buildListing('resourceTemplates', templates),
  }
}

const entryMakers = {
  tools: "tool('name', { … })",
  prompts: "prompt('name', { … })",
  resources: "resource('scheme://name', { … })",
  resourceTemplates: "resourceTemplate('scheme://{name}', { … })",
} as const

function checkEntries(definition: ServerDefinition): void {
  for (const [field, maker] of Object.entries(entryMakers)) {
    const entries: unknown = Reflect.get(definition, field)
    if (entries === undefined) continue
    const fail = (what: string, value: unknown): never => {
      const reason = `${what} is ${describeType(value)}; write ${field}: [${maker}]`
      throw new DefinitionError('value', 'server', { reason })
    }
    if (!Array.isArray(entries)) return fail(field, entries)
    for (const [index, entry] of entries.entries())
      if (!isJsonObject(entry) || !isJsonObject(entry['definition'])) fail(`${field}[${index}]`, entry)
    const other = field === 'resourceTemplates' ? entries.findIndex((entry) => !('uriTemplate' in entry)) : -1
    if (other >= 0) fail(`${field}[${other}]`, entries[other])
  }
}

function warnOfHostProblems(tools: readonly CompiledTool[], { toolSearch }: ServerDefinition, warn: Warn): void {
  const listedTools = tools.map(({ key, inputSchema }) => ({ name: key, inputSchema }))
  const problems = findHostProblems(listedTools).filter(({ code }) => code !== 'tool_count' || toolSearch === undefined)
  for (const { code, message, tool } of problems)
    warn({ code, message, ...(tool !== undefined && { where: { method: 'tools/call', name: tool } }) })
}

const tasksExtensionIdentifier = 'io.modelcontextprotocol/tasks'

function rejectTasksWithoutExtension({ tools = [], extensions = [] }: ServerDefinition): void {
  if (extensions.some(({ identifier }) => identifier === tasksExtensionIdentifier)) return
  const tool = tools.find(({ definition }) => definition.task === 'required')
  if (tool === undefined) return
  const reason = "task is 'required', and no extension serves tasks; write extensions: [tasks(…)], or task: 'allowed'"
  throw new DefinitionError('value', `tool ${JSON.stringify(tool.name)}`, { reason })
}

/**
 * Throws for a tool named like one of the search's own. A name that no tool has only causes a warning, since the tool
 * may come later.
 */
function checkToolSearch({ tools = [], toolSearch }: ServerDefinition, warn: Warn): void {
  if (toolSearch === undefined) return
  const names = new Set(tools.map(({ name }) => name))
  const taken = toolSearch.names.find((name) => names.has(name))
  if (taken !== undefined) {
    const reason = 'the search over tools has a tool of this name; give yours another, or leave toolSearch out'
    throw new DefinitionError('duplicate', `tool ${JSON.stringify(taken)}`, { reason })
  }
  const absent = toolSearch.always.filter((name) => !names.has(name))
  if (absent.length === 0) return
  const message = `toolSearch keeps tools listed that the server does not have: ${absent.join(', ')}`
  warn({ code: 'tool_rule_unmatched', message })
}

function requireExtension({ key, definition }: CompiledEntry, { extensions = [] }: ServerDefinition): void {
  const { needsExtension } = definition
  if (needsExtension === undefined || extensions.some(({ identifier }) => identifier === needsExtension)) return
  const reason = `needs the extension ${needsExtension}, which is not in \`extensions\` of the server`
  throw new DefinitionError('value', JSON.stringify(key), { reason })
}

/** Checks the server's name, version and description. */
export function requireServerInfo(definition: ServerDefinition): Implementation {
  const { name, version, title, description, icons, websiteUrl } = definition
  for (const [field, value] of [
    ['name', name],
    ['version', version],
  ] as const) {
    if (typeof value !== 'string' || value === '') {
      throw new DefinitionError('value', 'server', { reason: `${field} must be a string that is not empty` })
    }
  }
  return { ...freezeJsonObject({ title, description, icons, websiteUrl }, 'server'), name, version }
}

/** Every result names the server. Only `server/discover` describes it, because some hosts show `_meta` to the model. */
function resultMetaOf(definition: ServerDefinition): JsonObject {
  const { name, version } = requireServerInfo(definition)
  return freezeJsonObject({ [metaKeys.serverInfo]: { name, version } }, 'server')
}

const notificationCapabilities = { list: { listChanged: true }, resources: { listChanged: true, subscribe: true } }
const noNotificationCapabilities = { list: {}, resources: {} }

/** Kinds without definitions are not declared, and the server answers their methods with an error. */
function buildServerCapabilities(
  definition: ServerDefinition,
  completableEntries: readonly (CompiledPrompt | CompiledTemplate)[],
): ServerCapabilities {
  const { tools, prompts, resources, resourceTemplates, extensions = [] } = definition
  const hasResources =
    resources !== undefined ||
    resourceTemplates !== undefined ||
    extensions.some((each) => each.servesResources === true)
  const hasCompleters = completableEntries.some(({ completers }) => [...completers.values()].some(Boolean))
  const capabilitiesByKind = definition.subscriptions === false ? noNotificationCapabilities : notificationCapabilities
  return {
    logging: {},
    ...(tools && { tools: capabilitiesByKind.list }),
    ...(prompts && { prompts: capabilitiesByKind.list }),
    ...(hasResources && { resources: capabilitiesByKind.resources }),
    ...(hasCompleters && { completions: {} }),
    ...buildExtensionCapabilities(extensions, tools ?? []),
  }
}

function buildExtensionCapabilities(
  extensions: readonly ServerExtension[],
  tools: NonNullable<ServerDefinition['tools']>,
): JsonObject {
  const keyedEffectsEntries = tools.some(hasKeyedEffects) ? [[idempotentCallsExtension, {}]] : []
  const extensionEntries = extensions.flatMap(({ identifier, capabilities }) =>
    capabilities && identifier !== undefined ? [[identifier, capabilities]] : [],
  )
  const allExtensionEntries = [...keyedEffectsEntries, ...extensionEntries]
  const extraCapabilities = extensions.map(({ serverCapabilities }) => serverCapabilities)
  return Object.assign(
    {},
    ...extraCapabilities,
    allExtensionEntries.length > 0 && { extensions: Object.fromEntries(allExtensionEntries) },
  )
}

function buildDiscoverResult(definition: ServerDefinition, capabilities: ServerCapabilities): JsonObject {
  const { ttlMs, scope } = compileCacheHints(definition.cache, defaultListCacheHints, 'server')
  const result = {
    resultType: 'complete',
    supportedVersions: [protocolVersion],
    capabilities,
    instructions: definition.instructions,
    ttlMs,
    cacheScope: scope,
    _meta: { [metaKeys.serverInfo]: requireServerInfo(definition) },
  }
  return prepareResult(freezeJsonObject(result, 'server'))
}

type CompiledEntry = CompiledTool | CompiledPrompt | CompiledResource | CompiledTemplate

/** Entries in a page of a list. Most servers have only one page, and it stays below the limit for a message. */
// limit: page of a list | count | entries of one page of a list | the list has another page
const defaultPageSize = 1000

function createListingFactory(definition: ServerDefinition, meta: JsonObject) {
  const { cache } = definition
  const { pageSize = defaultPageSize } = readInternalSettings(definition)
  const { ttlMs, scope } = compileCacheHints(cache, defaultListCacheHints, 'server')
  return <Entry extends CompiledDefinition>(field: ListField, entries: readonly Entry[]): Listing<Entry> => {
    rejectDuplicates(field, entries)
    const variesByCaller = entries.some(({ visibleTo }) => visibleTo !== undefined)
    return createListing(entries, { field, pageSize, ttlMs, scope: variesByCaller ? 'private' : scope, meta })
  }
}

function rejectDuplicates(field: ListField, entries: readonly CompiledDefinition[]): void {
  const seenNames = new Set<string>()
  for (const { key } of entries) {
    if (seenNames.has(key)) {
      const reason = `${field} has it twice; give each of them a name of its own`
      throw new DefinitionError('duplicate', JSON.stringify(key), { reason })
    }
    seenNames.add(key)
  }
}
