import {
  type ClientCapabilities,
  type Implementation,
  isJsonObject,
  type JsonObject,
  protocolVersion,
  type ServerCapabilities,
} from '@x/schema'
import { type LegacyRevision, revisionFeaturesOf } from './revisions.ts'

interface CapabilityRow {
  readonly since: LegacyRevision | typeof protocolVersion
  /**
   * What a declaration means, in every revision that the peer speaks. It counts before `since` too, because hosts
   * declare what they can do and not what their revision lists: Codex opens URLs at 2025-06-18. `ignored`: no side
   * declares or uses it below 2026-07-28.
   */
  readonly declared: 'counts' | 'ignored'
  /** What becomes of a message that needs the capability, if the peer has not declared it. */
  readonly absent: 'sent' | 'not_sent'
}

const usual = { declared: 'counts', absent: 'not_sent' } as const

/**
 * Capabilities of clients and servers, by their path. This table alone decides what a declaration means to a peer of an
 * older revision. Extensions without a row follow the row `extensions`.
 */
const capabilityTable = {
  elicitation: { since: '2025-06-18', ...usual },
  'elicitation.form': { since: '2025-11-25', ...usual },
  'elicitation.url': { since: '2025-11-25', ...usual },
  sampling: { since: '2024-11-05', ...usual },
  'sampling.context': { since: '2025-11-25', ...usual },
  'sampling.tools': { since: '2025-11-25', ...usual },
  roots: { since: '2024-11-05', ...usual },
  tools: { since: '2024-11-05', ...usual },
  prompts: { since: '2024-11-05', ...usual },
  resources: { since: '2024-11-05', ...usual },
  logging: { since: '2024-11-05', ...usual },
  // 2024-11-05 has the method without the capability, and not all later servers declare it.
  completions: { since: '2025-03-26', declared: 'counts', absent: 'sent' },
  experimental: { since: '2024-11-05', declared: 'counts', absent: 'sent' },
  // Some helpers use an extension that their side never declares, such as the official one for skills.
  extensions: { since: protocolVersion, declared: 'counts', absent: 'sent' },
  // A peer that knows the tasks of 2025-11-25 would take the handle of the extension for a result, and the other way
  // round (seps/2663-tasks-extension), so calls of older revisions run as ordinary calls.
  tasks: { since: '2025-11-25', declared: 'ignored', absent: 'not_sent' },
  'extensions.io.modelcontextprotocol/tasks': { since: protocolVersion, declared: 'ignored', absent: 'not_sent' },
} as const satisfies Readonly<Record<string, CapabilityRow>>

const capabilityRows: ReadonlyMap<string, CapabilityRow> = new Map(Object.entries(capabilityTable))
const taskMessage = /^(?:notifications\/)?tasks(?:\/|$)/

/** True if a revision defines a capability. Revisions are dates, so they compare as text. */
export function definesCapability(revision: LegacyRevision, path: keyof typeof capabilityTable): boolean {
  return revision >= capabilityTable[path].since
}

/** True if neither side declares or uses the capability below 2026-07-28. */
export function isIgnoredCapability(path: string): boolean {
  return capabilityRows.get(path)?.declared === 'ignored'
}

/** True for a method or notification of tasks, which neither side uses below 2026-07-28. */
export function isTaskMessage(method: string): boolean {
  return taskMessage.test(method)
}

/** True if a message that needs a capability is sent to a peer that has not declared it. */
export function isSentUndeclared(path: string): boolean {
  return capabilityRows.get(path)?.absent === 'sent'
}

/**
 * An older client's capabilities in the form of 2026-07-28, which has no `roots.listChanged`, and no modes of
 * elicitation and sampling beside those of the table.
 */
export function toClientCapabilities(capabilities: JsonObject): ClientCapabilities {
  const { elicitation, sampling, roots, experimental, extensions } = pickCounting(capabilities)
  return {
    ...(elicitation && { elicitation: withDefaultMode(pickKnown(elicitation, 'elicitation')) }),
    ...(sampling && { sampling: pickKnown(sampling, 'sampling') }),
    ...(roots && { roots: {} }),
    ...(experimental && { experimental: pickCounting(experimental, 'experimental.') }),
    ...(extensions && { extensions: pickCounting(extensions, 'extensions.') }),
  }
}

/**
 * What a client or server of 2026-07-28 declares to a peer of an older revision, and what such a server has declared to
 * us.
 */
export function pickShared(capabilities: ClientCapabilities | ServerCapabilities | JsonObject): JsonObject {
  const { experimental, extensions, ...others } = pickCounting(capabilities)
  return {
    ...others,
    ...(experimental && { experimental: pickCounting(experimental, 'experimental.') }),
    ...(extensions && { extensions: pickCounting(extensions, 'extensions.') }),
  }
}

/** Leaves out capabilities that never count below 2026-07-28. One that is not an object counts as not declared. */
function pickCounting(capabilities: JsonObject, parent = ''): Record<string, JsonObject> {
  const counting = Object.entries(capabilities).flatMap(([name, value]): [string, JsonObject][] =>
    isJsonObject(value) && !isIgnoredCapability(`${parent}${name}`) ? [[name, value]] : [],
  )
  return Object.fromEntries(counting)
}

function pickKnown(modes: JsonObject, parent: string): JsonObject {
  const known = Object.entries(modes).filter(
    ([name, value]) => isJsonObject(value) && capabilityRows.has(`${parent}.${name}`),
  )
  return Object.fromEntries(known)
}

// client/elicitation, capabilities: an object without modes declares the form mode.
function withDefaultMode(modes: JsonObject): JsonObject {
  return Object.keys(modes).length === 0 ? { form: {} } : modes
}

/** Keeps the fields that a revision has. */
export function toLegacyImplementation(info: Implementation | JsonObject, revision: LegacyRevision): JsonObject {
  const { icons, description, websiteUrl, title, ...named } = info
  const { hasIcons, hasStructuredOutput } = revisionFeaturesOf(revision)
  return {
    ...named,
    ...(hasStructuredOutput && title !== undefined && { title }),
    ...(hasIcons && icons !== undefined && { icons }),
    ...(hasIcons && description !== undefined && { description }),
    ...(hasIcons && websiteUrl !== undefined && { websiteUrl }),
  }
}
