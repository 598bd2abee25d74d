import { checkArgument, parseJson, stringifyWellFormed } from '@x/core'
import type { CallToolResult, ContentBlock, ResourceLink } from '@x/schema'

/** A part of a result as model APIs take it: an image, a document, or else a text. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: ImageType; readonly data: string }
  | { readonly type: 'document'; readonly mimeType: 'application/pdf'; readonly data: string; readonly name: string }

/** Images that all model APIs take. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/**
 * Selects what a model should see of a result. Content for the user alone is left out; structured content follows as
 * JSON unless a text has it already; what model APIs do not take, such as sound, is described.
 */
export function toModelParts(result: CallToolResult): readonly ModelPart[] {
  checkArgument(result, { where: 'A result for a model', takes: 'the result of a call', needs: ['content'] })
  const { content, structuredContent } = result
  const blocks = content.filter(isForAssistant)
  const parts = blocks.map(toModelPart).filter((part) => part.type !== 'text' || part.text.trim() !== '')
  if (structuredContent !== undefined && !blocks.some((block) => hasJson(block, structuredContent)))
    parts.push({ type: 'text', text: stringifyWellFormed(structuredContent) })
  return parts.length === 0 ? [{ type: 'text', text: '(no content)' }] : parts.map(withWholeCharacters)
}

/** Model APIs refuse a request with half of a surrogate pair, as of an emoji that was cut. */
function withWholeCharacters(part: ModelPart): ModelPart {
  if (part.type === 'text') return { ...part, text: replaceHalves(part.text) }
  return part.type === 'document' ? { ...part, name: replaceHalves(part.name) } : part
}

function replaceHalves(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, '\uFFFD')
}

/** As text alone, with descriptions in place of images and documents. */
export function toModelText(result: CallToolResult): string {
  return toModelParts(result).map(describePart).join('\n\n')
}

/** Describes a part for a place that takes only text. */
export function describePart(part: ModelPart): string {
  return part.type === 'text' ? part.text : describeData(part.type, part.mimeType, part.data)
}

function isForAssistant({ annotations }: ContentBlock): boolean {
  const audience = annotations?.audience
  return audience === undefined || audience.length === 0 || audience.includes('assistant')
}

function hasJson(block: ContentBlock, value: unknown): boolean {
  if (block.type !== 'text' || !/^\s*[[{"\dtfn-]/.test(block.text)) return false
  return JSON.stringify(parseJson(block.text)) === JSON.stringify(value)
}

function toModelPart(block: ContentBlock): ModelPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return toDataPart('image', block)
    case 'audio':
      return { type: 'text', text: describeData('sound', block.mimeType, block.data) }
    case 'resource_link':
      return { type: 'text', text: describeLink(block) }
    case 'resource': {
      const { resource } = block
      const { uri, mimeType } = resource
      if ('text' in resource) return { type: 'text', text: `Resource ${uri}:\n${resource.text}` }
      return toDataPart(`resource ${uri}`, { data: resource.blob, mimeType: mimeType ?? 'unknown type' }, uri)
    }
  }
}

function toDataPart(kind: string, { data, mimeType }: { data: string; mimeType: string }, name = kind): ModelPart {
  if (isImageType(mimeType)) return { type: 'image', mimeType, data }
  if (mimeType === 'application/pdf') return { type: 'document', mimeType, data, name }
  return { type: 'text', text: describeData(kind, mimeType, data) }
}

function isImageType(mimeType: string): mimeType is ImageType {
  return /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)
}

function describeData(kind: string, mimeType: string, data: string): string {
  return `[${kind}, ${mimeType}, ${Math.floor((data.length * 3) / 4)} bytes, which cannot be shown here]`
}

function describeLink({ uri, name, title, description, mimeType }: ResourceLink): string {
  const details = [title === undefined || title === name ? undefined : name, mimeType].filter(
    (text) => text !== undefined,
  )
  const label = `${title ?? name}${details.length > 0 ? ` (${details.join(', ')})` : ''}`
  return `[Resource ${label}: ${uri}${description === undefined ? '' : `, ${description}`}]`
}
