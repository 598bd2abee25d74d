import type {
  BlobResourceContents,
  JsonObject,
  JsonValue,
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
  type ResourcePage,
  type ResourceReadContent,
  type ResourcePart,
  type ResourceReturn,
  resourceNotFoundError,
} from '../definitions/resource.ts'
import { requireCapabilities, type RequestState } from '../replay/served-request.ts'
import { matchUriTemplate } from '../definitions/uri-template.ts'
import { freezeJsonObject } from '../request/json-copy.ts'
import { openRequestContext } from '../replay/open-context.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
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

/** The author's pages that fill one page of the list. */
const maxTemplatePages = 20

/** A place in the lists of templates: the template, and the cursor that its author gave. */
interface TemplatePosition {
  readonly template: CompiledTemplate
  readonly authorCursor: string | undefined
}

/**
 * Returns a page of the resources with fixed URIs. A page with free places is filled with resources of the templates
 * that the caller may use, so that a client that reads one page receives them too. A cursor within a template is the
 * template's cursor in the list of templates, a dot, and the cursor that the author returned.
 */
async function readPageWithTemplates(cursor: string | undefined, request: RequestState): Promise<JsonObject> {
  const { catalog, call } = request
  const listableTemplates = templatesWithList(catalog)
  const templates = listableTemplates.filter((template) => isVisible(template, call))
  const position = findTemplatePosition(cursor, templates, catalog)
  if (position !== undefined) return fillPage(emptyPage, { position, templates, request })
  const page = withCallerCacheScope(readPage(catalog.resources, cursor, call), listableTemplates)
  const [template] = templates
  if (template === undefined || page['nextCursor'] !== undefined) return page
  return fillPage(page, { position: { template, authorCursor: undefined }, templates, request })
}

function findTemplatePosition(
  cursor: string | undefined,
  templates: readonly CompiledTemplate[],
  catalog: Catalog,
): TemplatePosition | undefined {
  const [templateCursor, ...authorCursorParts] = (cursor ?? '').split('.')
  const template = templates.find((each) => catalog.templates.cursors.get(each) === templateCursor)
  if (template === undefined) return undefined
  return { template, authorCursor: authorCursorParts.length > 0 ? authorCursorParts.join('.') : undefined }
}

/** A page differs by caller where one of the templates behind it is not visible to every caller. */
function withCallerCacheScope(page: JsonObject, templates: readonly CompiledTemplate[]): JsonObject {
  const variesByCaller = templates.some(({ visibleTo }) => visibleTo !== undefined)
  return { ...page, ...(variesByCaller && { cacheScope: 'private' }) }
}

const emptyPage: JsonObject = { resources: [] }

interface FillOptions {
  readonly position: TemplatePosition
  /** The templates that the caller may use. */
  readonly templates: readonly CompiledTemplate[]
  readonly request: RequestState
}

/** Adds the author's pages from a position on until the page is full. The last one is not divided. */
async function fillPage(fixedPage: JsonObject, options: FillOptions): Promise<JsonObject> {
  const { catalog } = options.request
  const { resources, pages, next } = await readTemplatePages(fixedPage, options)
  const nextCursor = next && formatTemplateCursor(next, catalog)
  const meta = mergeResultMeta(undefined, catalog)
  const result = {
    resultType: 'complete',
    resources,
    ...joinCacheHints(pages),
    ...(nextCursor !== undefined && { nextCursor }),
    ...(meta && { _meta: meta }),
  }
  return withCallerCacheScope(result, templatesWithList(catalog))
}

interface FilledPage {
  readonly resources: JsonValue[]
  /** The pages with the caching hints of the whole one. */
  readonly pages: JsonObject[]
  readonly next: TemplatePosition | undefined
}

async function readTemplatePages(fixedPage: JsonObject, options: FillOptions): Promise<FilledPage> {
  const { position, templates, request } = options
  const resources = Array.isArray(fixedPage['resources']) ? [...fixedPage['resources']] : []
  // The hints of a page without entries say nothing about the entries that follow.
  const pages = resources.length === 0 ? [] : [fixedPage]
  let next: TemplatePosition | undefined = position
  for (let count = 0; next !== undefined && count < maxTemplatePages; count++) {
    if (count > 0 && resources.length >= request.catalog.resources.options.pageSize) break
    const { template }: TemplatePosition = next
    const listed: ResourcePage | undefined = await readTemplatePage(next, request, resources.length > 0)
    if (listed === undefined) break
    resources.push(...listed.resources.flatMap((listedResource) => toListEntries(listedResource, template, request)))
    pages.push({ ttlMs: listed.ttlMs ?? 0, cacheScope: listed.cacheScope ?? 'private' })
    next = nextPosition(next, listed, templates)
  }
  return { resources, pages, next }
}

/** The whole page may be kept for the shortest of the times, and is public when every part is. */
function joinCacheHints(pages: readonly JsonObject[]): JsonObject {
  return {
    ttlMs: Math.min(...pages.map(({ ttlMs }) => Number(ttlMs))),
    cacheScope: pages.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private',
  }
}

/** Undefined when a list fails behind other entries, which the page then ends with: the next page reports the error. */
async function readTemplatePage(
  { template, authorCursor }: TemplatePosition,
  request: RequestState,
  hasEntries: boolean,
): Promise<ResourcePage | undefined> {
  try {
    return await listTemplateResources(template.definition, openRequestContext(request), authorCursor)
  } catch (error) {
    if (hasEntries) return undefined
    throw error
  }
}

function nextPosition(
  { template }: TemplatePosition,
  { nextCursor }: ResourcePage,
  templates: readonly CompiledTemplate[],
): TemplatePosition | undefined {
  if (nextCursor !== undefined) return { template, authorCursor: nextCursor }
  const nextTemplate = templates[templates.indexOf(template) + 1]
  return nextTemplate && { template: nextTemplate, authorCursor: undefined }
}

function formatTemplateCursor({ template, authorCursor }: TemplatePosition, { templates }: Catalog): string {
  const templateCursor = templates.cursors.get(template) ?? ''
  return authorCursor === undefined ? templateCursor : `${templateCursor}.${authorCursor}`
}

/** An entry that could not be read is left out and logged: a client would only fail with it. */
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
    const error = new Error('A listed resource was left out', { cause })
    reportServerError(error, logContextOf(request, key), request.settings)
    return []
  }
}
