import { isJsonObject, type JsonObject, type JsonValue, methodRow, preparedMessage } from '@x/schema'
import { type LegacyRevision, legacyRevisions, type RevisionRow, revisionRow } from '../revisions.ts'
import { withoutReserved } from './request.ts'

/** The members of results whose entries have `title` and `icons`. */
const listed = ['tools', 'prompts', 'resources', 'resourceTemplates']

// Lists are made once and sent often; so are their translations.
const translated = new WeakMap<object, Map<LegacyRevision, JsonObject>>()

/** A complete result with what an older revision knows, and nothing else. */
export function legacyResult(result: JsonObject, method: string, revision: LegacyRevision): JsonObject {
  if (methodRow(method)?.cached !== true || !Object.isFrozen(result)) return translate(result, method, revision)
  const known = translated.get(result) ?? new Map<LegacyRevision, JsonObject>()
  translated.set(result, known)
  const made = known.get(revision) ?? preparedMessage(translate(result, method, revision))
  known.set(revision, made)
  return made
}

function translate(result: JsonObject, method: string, revision: LegacyRevision): JsonObject {
  const { resultType: _type, _meta, ...members } = result
  const meta = withoutReserved(_meta)
  const translated = Object.keys(meta).length === 0 ? members : { ...members, _meta: meta }
  const { ttlMs: _ttl, cacheScope: _scope, ...uncached } = translated
  const row = revisionRow(revision)
  const shaped = methodRow(method)?.cached === true ? uncached : translated
  return members['structuredContent'] === undefined && revision === legacyRevisions[0] && method !== 'tools/list'
    ? shaped
    : reshapeEntries(shaped, row)
}

function reshapeEntries(result: JsonObject, row: RevisionRow): JsonObject {
  const { structuredContent, content, messages, ...rest } = result
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    listed.includes(name) ? mapEach(value, (entry) => listEntry(entry, row)) : value,
  ])
  return {
    ...Object.fromEntries(entries),
    ...(content !== undefined && { content: mapEach(content, (block) => contentBlock(block, row)) }),
    ...(messages !== undefined && { messages: mapEach(messages, (message) => promptMessage(message, row)) }),
    // server/tools, structured content: an object in these revisions; its JSON stands in a text block as well.
    ...(row.structuredOutput && isJsonObject(structuredContent) && { structuredContent }),
  }
}

/** A tool, prompt, resource, template or argument. */
function listEntry(entry: JsonObject, row: RevisionRow): JsonObject {
  const { icons, title, outputSchema, arguments: args, ...rest } = entry
  return {
    ...rest,
    ...(row.structuredOutput && title !== undefined && { title }),
    ...(row.icons && icons !== undefined && { icons }),
    ...(row.structuredOutput && isJsonObject(outputSchema) && outputSchema['type'] === 'object' && { outputSchema }),
    ...(args !== undefined && { arguments: mapEach(args, (argument) => listEntry(argument, row)) }),
  }
}

function promptMessage(message: JsonObject, row: RevisionRow): JsonObject {
  const { content } = message
  return isJsonObject(content) ? { ...message, content: contentBlock(content, row) } : message
}

function contentBlock(block: JsonObject, row: RevisionRow): JsonObject {
  if (block['type'] !== 'resource_link') return block
  if (row.structuredOutput) return listEntry(block, row)
  const { annotations, uri, name, description } = block
  const text = [name, description, uri].filter((part) => typeof part === 'string').join('\n')
  return { type: 'text', text, ...(annotations !== undefined && { annotations }) }
}

function mapEach(value: JsonValue | undefined, change: (entry: JsonObject) => JsonObject): JsonValue {
  if (!Array.isArray(value)) return value ?? null
  return value.map((entry: JsonValue) => (isJsonObject(entry) ? change(entry) : entry))
}
