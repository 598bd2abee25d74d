import type {
  BlobResourceContents,
  JsonObject,
  PaginatedRequestParams,
  ReadResourceRequestParams,
  ReadResourceResult,
  TextResourceContents,
  Resource as ListedResource,
} from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import {
  encodeBase64,
  findVisibleEntry,
  isVisible,
  readPage,
  type CompiledResource,
  type CompiledTemplate,
  mergeResultMeta,
  type Catalog,
} from '../compile/catalog.ts'
import type { Context, InputRequiredReturn } from '../definitions/context.ts'
import { replayCall } from '../replay/replay.ts'
import {
  type ResourceReadContent,
  type ResourcePart,
  type ResourceReturn,
  resourceNotFoundError,
} from '../definitions/resource.ts'
import { requireCapabilities, type RequestState } from '../replay/served-request.ts'
import { matchUriTemplate } from '../definitions/uri-template.ts'
import { freezeJsonObject } from '../request/json-copy.ts'
import { openRequestContext } from '../replay/open-context.ts'
import { reportServerError } from '../request/report.ts'
import { listTemplateResources } from '../compile/compile-resource.ts'

/** A page of the resources that the caller may read (server/resources, listing resources). */
export function listResources({ cursor }: PaginatedRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const hasOnlyFixedResources = templatesWithList(catalog).length === 0
  return hasOnlyFixedResources ? readPage(catalog.resources, cursor, call) : readPageWithTemplates(cursor, request)
}

/** A page of the templates that the caller may use (server/resources, resource templates). */
export function listResourceTemplates({ cursor }: PaginatedRequestParams, { catalog, call }: RequestState): JsonObject {
  return readPage(catalog.templates, cursor, call)
}

/** Reads a resource: that of the very URI, or else of the first template that the URI fits (server/resources). */
export function readResource({ uri }: ReadResourceRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const resource = findVisibleEntry(catalog.resources, uri, call)
  if (resource !== undefined) {
    requireCapabilities(resource.requires, request)
    return runReadHandler((ctx) => resource.definition.read(ctx), { uri, resource, request })
  }
  for (const template of catalog.templates.byKey.values()) {
    const variables = isVisible(template, call) ? matchUriTemplate(template.template, uri) : undefined
    if (variables !== undefined) {
      requireCapabilities(template.requires, request)
      return runReadHandler((ctx) => template.definition.read(variables, ctx), { uri, resource: template, request })
    }
  }
  throw resourceNotFoundError(uri)
}

interface ReadTarget {
  readonly uri: string
  readonly resource: CompiledResource | CompiledTemplate
  readonly request: RequestState
}

function runReadHandler(
  run: (ctx: Context) => Awaitable<ResourceReturn | InputRequiredReturn>,
  target: ReadTarget,
): Awaitable<JsonObject> {
  const toResult = (resourceReturn: ResourceReturn) => toResourceResult(resourceReturn, target)
  return replayCall({ name: target.uri, run, toResult }, target.request)
}

function toResourceResult(resourceReturn: ResourceReturn, { uri, resource, request }: ReadTarget): ReadResourceResult {
  const { contents, ttlMs, cacheScope, _meta } = toResourceContent(resourceReturn)
  // An empty list could mean that there is no such resource (server/resources, error handling).
  if (contents.length === 0) {
    throw new Error(`Reading ${uri} gave no contents; return empty text, or throw resourceNotFoundError(uri)`)
  }
  const meta = mergeResultMeta(_meta, request.catalog)
  return {
    resultType: 'complete',
    contents: contents.map((part) => encodePart(part, uri, resource.definition.mimeType)),
    ttlMs: ttlMs ?? resource.cacheHints.ttlMs,
    cacheScope: cacheScope ?? resource.cacheHints.scope,
    ...(meta && { _meta: meta }),
  }
}

function toResourceContent(resourceReturn: ResourceReturn): ResourceReadContent {
  if (typeof resourceReturn === 'string') return { contents: [{ text: resourceReturn }] }
  if (resourceReturn instanceof Uint8Array) return { contents: [{ blob: resourceReturn }] }
  if (isPartList(resourceReturn)) return { contents: resourceReturn }
  return 'contents' in resourceReturn ? resourceReturn : { contents: [resourceReturn] }
}

function isPartList(resourceReturn: ResourceReturn): resourceReturn is readonly ResourcePart[] {
  return Array.isArray(resourceReturn)
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

/** Returns the templates that list their resources, in their order. */
function templatesWithList({ templates }: Catalog): readonly CompiledTemplate[] {
  return [...templates.byKey.values()].filter(({ definition }) => definition.list !== undefined)
}

/**
 * Returns a page of a list that goes on, behind the resources with URIs of their own, with those of each template that
 * the caller may use. A cursor of a template is the template's own cursor in the list of templates, a dot, and the
 * cursor that the author gave.
 */
async function readPageWithTemplates(cursor: string | undefined, request: RequestState): Promise<JsonObject> {
  const { catalog, call } = request
  const listableTemplates = templatesWithList(catalog)
  const visibleTemplates = listableTemplates.filter((template) => isVisible(template, call))
  const [templateCursor, ...authorCursorParts] = (cursor ?? '').split('.')
  const index = visibleTemplates.findIndex((template) => catalog.templates.cursors.get(template) === templateCursor)
  const currentTemplate = visibleTemplates[index]
  if (currentTemplate !== undefined) {
    const nextTemplate = visibleTemplates[index + 1]
    return readTemplateResourcesPage(currentTemplate, {
      cursor: authorCursorParts.length > 0 ? authorCursorParts.join('.') : undefined,
      nextTemplate,
      request,
    })
  }
  const page = readPage(catalog.resources, cursor, call)
  const firstTemplate = visibleTemplates[0]
  if (firstTemplate !== undefined && page['nextCursor'] === undefined) {
    if (isEmptyPage(page))
      return readTemplateResourcesPage(firstTemplate, { cursor: undefined, nextTemplate: visibleTemplates[1], request })
    return Object.assign(withCallerCacheScope(page, listableTemplates), {
      nextCursor: catalog.templates.cursors.get(firstTemplate),
    })
  }
  return withCallerCacheScope(page, listableTemplates)
}

/** A page differs by caller where one of the templates behind it is not for everybody. */
function withCallerCacheScope(page: JsonObject, templates: readonly CompiledTemplate[]): JsonObject {
  const variesByCaller = templates.some(({ visibleTo }) => visibleTo !== undefined)
  return { ...page, ...(variesByCaller && { cacheScope: 'private' }) }
}

function isEmptyPage({ resources }: JsonObject): boolean {
  return Array.isArray(resources) && resources.length === 0
}

interface TemplatePageOptions {
  readonly cursor: string | undefined
  /** The template whose resources follow. */
  readonly nextTemplate: CompiledTemplate | undefined
  readonly request: RequestState
}

async function readTemplateResourcesPage(
  template: CompiledTemplate,
  options: TemplatePageOptions,
): Promise<JsonObject> {
  const { cursor, nextTemplate, request } = options
  const { catalog } = request
  const page = await listTemplateResources(template.definition, openRequestContext(request), cursor)
  const { cursors } = catalog.templates
  const templateCursor = page.nextCursor === undefined ? undefined : `${cursors.get(template)}.${page.nextCursor}`
  const nextCursor = templateCursor ?? (nextTemplate && cursors.get(nextTemplate))
  const meta = mergeResultMeta(undefined, catalog)
  return {
    resultType: 'complete',
    resources: page.resources.flatMap((listedResource) => toListEntries(listedResource, template, request)),
    ...(nextCursor !== undefined && { nextCursor }),
    ttlMs: page.ttlMs ?? 0,
    cacheScope: page.cacheScope ?? 'private',
    ...(meta && { _meta: meta }),
  }
}

/** An entry that could not be read is left out and reported to `onError`: a client would only fail with it. */
function toListEntries(
  listedResource: ListedResource,
  { definition, key, template }: CompiledTemplate,
  request: RequestState,
): JsonObject[] {
  const { mimeType } = definition
  try {
    const { uri, name } = listedResource
    if (matchUriTemplate(template, uri) === undefined)
      throw new Error(`${JSON.stringify(uri)} does not fit the template`)
    if (typeof name !== 'string' || name === '') throw new Error(`${uri} has no name`)
    return [freezeJsonObject({ ...(mimeType !== undefined && { mimeType }), ...listedResource }, uri)]
  } catch (cause) {
    reportServerError(
      new Error('A listed resource was left out', { cause }),
      { method: request.method, name: key },
      request.settings,
    )
    return []
  }
}
