import { isJsonObject, type JsonObject, type JsonValue, findMethodRow, prepareResult } from '@x/schema'
import { withoutRootReference } from '@x/schema/internal'
import { type LegacyRevision, legacyRevisions, type RevisionFeatures, revisionFeaturesOf } from './revisions.ts'
import { omitReservedMeta } from './request.ts'

const listFields = ['tools', 'prompts', 'resources', 'resourceTemplates']

// One frozen list is sent to many clients, so its translation is cached.
const translationCache = new WeakMap<object, Map<LegacyRevision, JsonObject>>()

/** Translates a complete result. Leaves out members that the older revision does not have. */
export function toLegacyResult(result: JsonObject, method: string, revision: LegacyRevision): JsonObject {
  if (findMethodRow(method)?.isCacheable !== true || !Object.isFrozen(result))
    return translateResult(result, method, revision)
  // Bounded by the revisions.
  const resultsByRevision = translationCache.get(result) ?? new Map<LegacyRevision, JsonObject>()
  translationCache.set(result, resultsByRevision)
  const translatedResult = resultsByRevision.get(revision) ?? prepareResult(translateResult(result, method, revision))
  resultsByRevision.set(revision, translatedResult)
  return translatedResult
}

function translateResult(result: JsonObject, method: string, revision: LegacyRevision): JsonObject {
  const { resultType, _meta, ...others } = result
  // Only an extension has other result types, and its client must see which one it got.
  const members = resultType === undefined || resultType === 'complete' ? others : { ...others, resultType }
  const meta = omitReservedMeta(_meta)
  const translatedMembers = Object.keys(meta).length === 0 ? members : { ...members, _meta: meta }
  const { ttlMs: _ttl, cacheScope: _scope, ...uncached } = translatedMembers
  const features = revisionFeaturesOf(revision)
  const uncachedResult = findMethodRow(method)?.isCacheable === true ? uncached : translatedMembers
  return members['structuredContent'] === undefined && revision === legacyRevisions[0] && method !== 'tools/list'
    ? uncachedResult
    : reshapeEntries(uncachedResult, features)
}

function reshapeEntries(result: JsonObject, features: RevisionFeatures): JsonObject {
  const { structuredContent, content, messages, ...rest } = result
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    listFields.includes(name) ? mapObjects(value, (entry) => translateListEntry(name, entry, features)) : value,
  ])
  return {
    ...Object.fromEntries(entries),
    ...(content !== undefined && { content: mapObjects(content, (block) => toContentBlock(block, features)) }),
    ...(messages !== undefined && { messages: mapObjects(messages, (message) => toPromptMessage(message, features)) }),
    // server/tools, structured content: older revisions allow only objects. A text block contains the JSON as well.
    ...(features.hasStructuredOutput && isJsonObject(structuredContent) && { structuredContent }),
  }
}

function translateListEntry(list: string, entry: JsonObject, features: RevisionFeatures): JsonObject {
  const { icons, title, outputSchema, arguments: args, annotations, ...rest } = entry
  return {
    ...rest,
    ...(annotations !== undefined && hasAnnotations(list, features) && { annotations }),
    ...(features.hasStructuredOutput && title !== undefined && { title }),
    ...(features.hasIcons && icons !== undefined && { icons }),
    ...(features.hasStructuredOutput && outputSchemaMember(outputSchema)),
    ...(args !== undefined && {
      arguments: mapObjects(args, (argument) => translateListEntry('arguments', argument, features)),
    }),
  }
}

// Older revisions allow only outputs whose root has the type "object" (server/tools, output schema).
function outputSchemaMember(schema: JsonValue | undefined): JsonObject {
  const outputSchema = isJsonObject(schema) ? withoutRootReference(schema) : undefined
  return outputSchema?.['type'] === 'object' ? { outputSchema } : {}
}

// 2024-11-05 has annotations of contents, but none of tools.
function hasAnnotations(list: string, { hasAudio }: RevisionFeatures): boolean {
  return hasAudio || list !== 'tools'
}

function toPromptMessage(message: JsonObject, features: RevisionFeatures): JsonObject {
  const { content } = message
  return isJsonObject(content) ? { ...message, content: toContentBlock(content, features) } : message
}

function toContentBlock(block: JsonObject, features: RevisionFeatures): JsonObject {
  if (block['type'] === 'audio' && !features.hasAudio) return toTextOfAudio(block)
  if (block['type'] !== 'resource_link') return block
  if (features.hasStructuredOutput) return translateListEntry('content', block, features)
  const { annotations, uri, name, description } = block
  const text = [name, description, uri].filter((part) => typeof part === 'string').join('\n')
  return { type: 'text', text, ...(annotations !== undefined && { annotations }) }
}

function toTextOfAudio({ mimeType, annotations }: JsonObject): JsonObject {
  const text = `[audio of type ${typeof mimeType === 'string' ? mimeType : 'unknown'}]`
  return { type: 'text', text, ...(annotations !== undefined && { annotations }) }
}

function mapObjects(value: JsonValue | undefined, changeEntry: (entry: JsonObject) => JsonObject): JsonValue {
  if (!Array.isArray(value)) return value ?? null
  return value.map((entry: JsonValue) => (isJsonObject(entry) ? changeEntry(entry) : entry))
}
