import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { encodeUri } from './uris.ts'

/** Changes a result's names, URIs and ids from those of an upstream to those of the gateway. */
export type Rewrite = (result: JsonObject, upstream: string) => JsonObject

/** Rewrites the links and the embedded resources in a result. Text and structured content are not changed. */
export const rewriteContent: Rewrite = (result, upstream) => {
  const { content } = result
  const rewritten = rewriteUiMeta(result, upstream)
  return isJsonArray(content) ? { ...rewritten, content: rewriteBlocks(content, upstream) } : rewritten
}

export const rewriteMessages: Rewrite = (result, upstream) =>
  rewriteItems(result, 'messages', (message) => {
    const { content } = message
    return isJsonObject(content) ? { ...message, content: rewriteBlock(content, upstream) } : message
  })

export const rewriteContents: Rewrite = (result, upstream) =>
  rewriteItems(result, 'contents', (contents) => rewriteUri(contents, upstream))

export const rewriteResources: Rewrite = (result, upstream) =>
  rewriteItems(result, 'resources', (resource) => rewriteUri(resource, upstream))

export const rewriteTask: Rewrite = (task, upstream) => {
  const { result } = task
  return isJsonObject(result) ? { ...task, result: rewriteContent(result, upstream) } : task
}

/** Rewrites a skill's entry (extensions/skills, skill entries). */
export function rewriteSkill(skill: JsonObject, upstream: string): JsonObject {
  return rewriteResources(rewriteUri(skill, upstream), upstream)
}

export function rewriteUri<T extends JsonObject>(item: T, upstream: string, member = 'uri'): JsonObject {
  const uri = item[member]
  return typeof uri === 'string' ? { ...item, [member]: encodeUri(upstream, uri) } : item
}

/** Rewrites a tool's page in its `_meta`, in the current and in the earlier form (extensions/apps). */
export function rewriteUiMeta(item: JsonObject, upstream: string): JsonObject {
  const { _meta } = item
  if (!isJsonObject(_meta)) return item
  const { ui } = _meta
  const present = isJsonObject(ui) ? { ..._meta, ui: rewriteUri(ui, upstream, 'resourceUri') } : _meta
  const rewritten = rewriteUri(present, upstream, 'ui/resourceUri')
  return rewritten === _meta ? item : { ...item, _meta: rewritten }
}

function rewriteItems(result: JsonObject, member: string, rewrite: (item: JsonObject) => JsonObject): JsonObject {
  const items = result[member]
  if (!isJsonArray(items)) return result
  return { ...result, [member]: items.map((item) => (isJsonObject(item) ? rewrite(item) : item)) }
}

function rewriteBlocks(content: readonly JsonValue[], upstream: string): readonly JsonValue[] {
  return content.map((block) => (isJsonObject(block) ? rewriteBlock(block, upstream) : block))
}

function rewriteBlock(block: JsonObject, upstream: string): JsonObject {
  const { type, resource } = block
  if (type === 'resource_link') return rewriteUri(block, upstream)
  return type === 'resource' && isJsonObject(resource) ? { ...block, resource: rewriteUri(resource, upstream) } : block
}
