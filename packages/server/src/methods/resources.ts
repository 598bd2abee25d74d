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

/** Returns a page of the resources that the caller may read (server/resources, listing resources). */
export function listResources({ cursor }: PaginatedRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const hasOnlyFixedResources = templatesWithList(catalog).length === 0
  return hasOnlyFixedResources ? readPage(catalog.resources, cursor, call) : readPageWithTemplates(cursor, request)
}

/** Returns a page of the templates that the caller may use (server/resources, resource templates). */
export function listResourceTemplates({ cursor }: PaginatedRequestParams, { catalog, call }: RequestState): JsonObject {
  return readPage(catalog.templates, cursor, call)
}

/**
 * Reads the resource with exactly this URI. If there is none, uses the first template that matches the URI
 * (server/resources).
 */
export function readResource({ uri }: ReadResourceRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const resource = findVisibleEntry(catalog.resources, uri, call)
  if (resource !== undefined) {
    if (resource.requires !== undefined) requireCapabilities(resource.requires, request)
    return runReadHandler((ctx) => resource.definition.read(ctx), { uri, resource, request })
  }
  for (const template of catalog.templates.byKey.values()) {
    const variables = isVisible(template, call) ? matchUriTemplate(template.template, uri) : undefined
    if (variables !== undefined) {
      if (template.requires !== undefined) requireCapabilities(template.requires, request)
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
  // A client could understand an empty array as a resource that does not exist (server/resources, error handling).
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

/** Returns the templates that can list their resources, in the order of their definition. */
function templatesWithList({ templates }: Catalog): readonly CompiledTemplate[] {
  return [...templates.byKey.values()].filter(({ definition }) => definition.list !== undefined)
}

/** The maximum number of the author's pages that are read for one page of the list. */
const maxTemplatePages = 20

/**
 * A position in the resources that templates list: a template, and the cursor for its `list` function. The cursor is
 * undefined for the first page.
 */
interface TemplatePosition {
  readonly template: CompiledTemplate
  readonly authorCursor: string | undefined
}

/**
 * Returns a page of the resources: first those with fixed URIs, then those that the caller's templates list. The last
 * page of fixed URIs is filled up with resources of templates, so that clients that read only one page receive both. A
 * cursor within a template consists of the template's cursor in the list of templates, a dot, and the cursor that the
 * author returned.
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

/** Makes a page private if a template that is not visible to every caller may have contributed to the page. */
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

/**
 * Adds pages of the author, starting from a position, until the page is full. The author's last page is not split, so
 * the result may exceed the page size.
 */
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
  /** The caching hints of the pages that were joined. */
  readonly pages: JsonObject[]
  readonly next: TemplatePosition | undefined
}

async function readTemplatePages(fixedPage: JsonObject, options: FillOptions): Promise<FilledPage> {
  const { position, templates, request } = options
  const resources = Array.isArray(fixedPage['resources']) ? [...fixedPage['resources']] : []
  // An empty page is left out, because its caching hints say nothing about the entries that follow.
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

/**
 * Returns the caching hints of the joined page. Its `ttlMs` is the shortest one, and its scope is `public` only if
 * every page is public.
 */
function joinCacheHints(pages: readonly JsonObject[]): JsonObject {
  return {
    ttlMs: Math.min(...pages.map(({ ttlMs }) => Number(ttlMs))),
    cacheScope: pages.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private',
  }
}

/**
 * Reads one page of the author. If this fails and the joined page already has entries, returns undefined. The joined
 * page then ends, and the client receives the error when it requests the next page.
 */
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

/**
 * Returns the list entry of a resource, or an empty array if the entry is invalid. An invalid entry is logged and left
 * out, because a client could not read the resource.
 */
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
