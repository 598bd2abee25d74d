import {
  type ClientCapabilities,
  type Implementation,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ServerCapabilities,
} from '@x/schema'
import { type LegacyRevision, revisionFeaturesOf } from './revisions.ts'

/**
 * Returns the capabilities of an older client in the form of 2026-07-28. `tasks` and `roots.listChanged` are left out,
 * because 2026-07-28 does not have them. Capabilities that the client's own revision does not have are left out too
 * (basic/lifecycle, capability negotiation).
 */
export function toClientCapabilities(capabilities: JsonObject, revision: LegacyRevision): ClientCapabilities {
  const features = revisionFeaturesOf(revision)
  const { elicitation, sampling, roots, experimental, extensions } = capabilities
  return {
    ...(isJsonObject(elicitation) &&
      features.hasStructuredOutput && { elicitation: elicitationModesIn(elicitation, revision) }),
    ...(isJsonObject(sampling) && {
      sampling: features.hasSamplingTools ? pickSupportedCapabilities(sampling, ['context', 'tools']) : {},
    }),
    ...(isJsonObject(roots) && { roots: {} }),
    ...(isJsonObject(experimental) && { experimental: pickObjects(experimental) }),
    ...(isJsonObject(extensions) && { extensions: pickObjects(extensions) }),
  }
}

// client/elicitation, capabilities: an empty object declares the form mode.
function elicitationModesIn(capabilities: JsonObject, revision: LegacyRevision): JsonObject {
  if (!revisionFeaturesOf(revision).hasUrlElicitation) return { form: {} }
  const modes = pickSupportedCapabilities(capabilities, ['form', 'url'])
  return Object.keys(modes).length === 0 ? { form: {} } : modes
}

function pickObjects(capabilities: JsonObject): Record<string, JsonObject> {
  const entries = Object.entries(capabilities)
  return Object.fromEntries(entries.flatMap(([name, value]) => (isJsonObject(value) ? [[name, value]] : [])))
}

function pickSupportedCapabilities(capabilities: JsonObject, names: readonly string[]): Record<string, JsonObject> {
  return Object.fromEntries(
    names.flatMap((name): [string, JsonObject][] => {
      const value: JsonValue | undefined = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
      return isJsonObject(value) ? [[name, value]] : []
    }),
  )
}

/**
 * Returns the capabilities of a server in the form of older revisions. They always include `logging`, because every
 * handler may log. Extensions are unchanged.
 */
export function toLegacyCapabilities(capabilities: ServerCapabilities): JsonObject {
  const { completions, experimental, extensions, prompts, resources, tools } = capabilities
  return {
    logging: {},
    ...(completions && { completions }),
    ...(experimental && { experimental }),
    ...(extensions && { extensions }),
    ...(prompts && { prompts }),
    ...(resources && { resources }),
    ...(tools && { tools }),
  }
}

/** Returns the name and version of an implementation with the fields that a revision has. */
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
