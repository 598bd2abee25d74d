import { encodeBase64, isReadonlyArray } from '@x/core'
import type {
  BlobResourceContents,
  JsonObject,
  ReadResourceRequestParams,
  ReadResourceResult,
  TextResourceContents,
} from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import {
  findVisibleEntry,
  isVisible,
  type CompiledResource,
  type CompiledTemplate,
  mergeResultMeta,
} from '../compile/catalog.ts'
import type { Context, InputRequiredReturn } from '../definitions/context.ts'
import { replayCall } from '../replay/replay.ts'
import {
  type ResourceReadContent,
  type ResourcePart,
  type ResourceReturn,
  resourceNotFoundError,
} from '../definitions/resource.ts'
import { requireCapabilities, type ServedRequest } from '../replay/served-request.ts'
import { matchUriTemplate } from '../definitions/uri-template.ts'

/**
 * Reads the resource with exactly this URI, else through the first template that matches it, else from the first
 * extension that has it (server/resources).
 */
export function readResource({ uri }: ReadResourceRequestParams, request: ServedRequest): Awaitable<JsonObject> {
  const { catalog, call } = request
  const resource = findVisibleEntry(catalog.resources, uri, call)
  if (resource !== undefined) {
    if (resource.requires !== undefined) requireCapabilities(resource.requires, request)
    return runReadHandler((ctx) => resource.definition.read(ctx), uri, resource, request)
  }
  for (const template of catalog.templates.byKey.values()) {
    const variables = isVisible(template, call) ? matchUriTemplate(template.template, uri) : undefined
    if (variables !== undefined) {
      if (template.requires !== undefined) requireCapabilities(template.requires, request)
      return runReadHandler((ctx) => template.definition.read(variables, ctx), uri, template, request)
    }
  }
  return readExtensionResource(uri, request)
}

async function readExtensionResource(
  uri: string,
  { extensionResources, call, catalog }: ServedRequest,
): Promise<JsonObject> {
  for (const { resources } of extensionResources) {
    const result = await resources.read(uri, call)
    if (result !== undefined) return { ...result, _meta: mergeResultMeta(result._meta, catalog) }
  }
  throw resourceNotFoundError(uri)
}

function runReadHandler(
  run: (ctx: Context) => Awaitable<ResourceReturn | InputRequiredReturn>,
  uri: string,
  resource: CompiledResource | CompiledTemplate,
  request: ServedRequest,
): Awaitable<JsonObject> {
  const toResult = (resourceReturn: ResourceReturn) => toResourceResult(resourceReturn, uri, resource, request)
  return replayCall({ name: uri, run, toResult }, request)
}

function toResourceResult(
  resourceReturn: ResourceReturn,
  uri: string,
  resource: CompiledResource | CompiledTemplate,
  { catalog }: ServedRequest,
): ReadResourceResult {
  const { contents, ttlMs, cacheScope, _meta } = toResourceContent(resourceReturn)
  // A client could understand an empty array as a resource that does not exist (server/resources, error handling).
  if (contents.length === 0) {
    throw new Error(`Reading ${uri} returned no contents; return empty text, or throw resourceNotFoundError(uri)`)
  }
  return {
    resultType: 'complete',
    contents: contents.map((part) => encodePart(part, uri, resource.definition.mimeType)),
    ttlMs: ttlMs ?? resource.cacheHints.ttlMs,
    // From a shared cache, a public result would reach callers from which `visibleTo` hides the resource.
    cacheScope: resource.visibleTo === undefined ? (cacheScope ?? resource.cacheHints.scope) : 'private',
    _meta: mergeResultMeta(_meta, catalog),
  }
}

function toResourceContent(resourceReturn: ResourceReturn): ResourceReadContent {
  if (typeof resourceReturn === 'string') return { contents: [{ text: resourceReturn }] }
  if (resourceReturn instanceof Uint8Array) return { contents: [{ blob: resourceReturn }] }
  if (isReadonlyArray(resourceReturn)) return { contents: resourceReturn }
  return 'contents' in resourceReturn ? resourceReturn : { contents: [resourceReturn] }
}

function encodePart(
  part: ResourcePart,
  uri: string,
  mimeType: string | undefined,
): TextResourceContents | BlobResourceContents {
  const type = part.mimeType ?? mimeType
  const contentFields = {
    uri: part.uri ?? uri,
    ...(type !== undefined && { mimeType: type }),
    ...(part._meta && { _meta: part._meta }),
  }
  if (part.text !== undefined) return { ...contentFields, text: part.text }
  if (part.blob === undefined) throw new Error(`A part of ${uri} has neither text nor blob`)
  return { ...contentFields, blob: typeof part.blob === 'string' ? part.blob : encodeBase64(part.blob) }
}
