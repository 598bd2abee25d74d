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
 * The capabilities of a client as this revision words them. `tasks` and `roots.listChanged` have no meaning any more,
 * and what the client's revision does not have is left out (basic/lifecycle, capability negotiation).
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

// client/elicitation, capabilities: an empty object means the form mode.
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

/** The capabilities of a server as older revisions word them: always with `logging`, and with its extensions. */
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

/** An implementation with the fields that a revision has. */
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
