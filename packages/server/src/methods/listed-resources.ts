import type { JsonObject, JsonValue, PaginatedRequestParams, Resource as ListedResource } from '@x/schema'
import { encodeCursor, isVisible, type CompiledTemplate, readPage } from '../compile/catalog.ts'
import { listTemplateResources } from '../compile/compile-resource.ts'
import type { ResourcePage } from '../definitions/resource.ts'
import { matchUriTemplate } from '../definitions/uri-template.ts'
import { openRequestContext } from '../replay/open-context.ts'
import type { ServedRequest } from '../replay/served-request.ts'
import type { Awaitable } from '../request/awaitable.ts'
import { freezeJsonObject } from '../request/json-copy.ts'
import { logContextOf, reportServerError } from '../request/report.ts'

/**
 * Resources that a function lists when a client asks: a template with `list`, or an extension. Those with fixed URIs
 * are in the catalog instead.
 */
interface ListSource {
  readonly cursor: string
  readonly name: string
  list(authorCursor: string | undefined): Awaitable<ResourcePage>
  toEntry(resource: ListedResource): JsonObject
}

/** A page of the resources that the caller may read (server/resources, listing resources). */
export function listResources({ cursor }: PaginatedRequestParams, request: ServedRequest): Awaitable<JsonObject> {
  const { catalog, call } = request
  const hasOnlyFixedResources = templatesWithList(request).length === 0 && listedExtensions(request).length === 0
  return hasOnlyFixedResources ? readPage(catalog.resources, cursor, call) : readPageWithSources(cursor, request)
}

function templatesWithList({ catalog }: ServedRequest): readonly CompiledTemplate[] {
  return [...catalog.templates.byKey.values()].filter(({ definition }) => definition.list !== undefined)
}

function listedExtensions({ extensionResources }: ServedRequest): ServedRequest['extensionResources'] {
  return extensionResources.filter(({ resources }) => resources.list !== undefined)
}

function listSources(request: ServedRequest): readonly ListSource[] {
  const visibleTemplates = templatesWithList(request).filter((template) => isVisible(template, request.call))
  return [
    ...visibleTemplates.map((template) => toTemplateSource(template, request)),
    ...listedExtensions(request).map((extension) => toExtensionSource(extension, request)),
  ]
}

function toTemplateSource(compiledTemplate: CompiledTemplate, request: ServedRequest): ListSource {
  const { definition, key, template } = compiledTemplate
  return {
    cursor: request.catalog.templates.cursors.get(compiledTemplate) ?? '',
    name: key,
    list: (authorCursor) => listTemplateResources(definition, openRequestContext(request), authorCursor),
    toEntry: (resource) => {
      if (matchUriTemplate(template, resource.uri) === undefined)
        throw new Error(`${JSON.stringify(resource.uri)} does not fit the template`)
      return toFrozenEntry({ ...(definition.mimeType !== undefined && { mimeType: definition.mimeType }), ...resource })
    },
  }
}

function toExtensionSource(
  { name, resources }: ServedRequest['extensionResources'][number],
  { call }: ServedRequest,
): ListSource {
  return {
    cursor: encodeCursor('resources', `extension ${name}`),
    name,
    list: (authorCursor) => resources.list?.(call, authorCursor) ?? { resources: [] },
    toEntry: toFrozenEntry,
  }
}

function toFrozenEntry(resource: ListedResource): JsonObject {
  const { uri, name } = resource
  if (typeof name !== 'string' || name === '') throw new Error(`${uri} has no name`)
  return freezeJsonObject(resource, uri)
}

const maxResourcePages = 20

interface SourcePosition {
  readonly source: ListSource
  readonly authorCursor: string | undefined
}

/**
 * Lists resources with fixed URIs first, then those of the sources. The last page of fixed URIs is filled up with
 * resources of sources, because some clients read only one page. A cursor within a source is the source's own, a dot,
 * and the cursor that its function returned.
 */
async function readPageWithSources(cursor: string | undefined, request: ServedRequest): Promise<JsonObject> {
  const { catalog, call } = request
  const sources = listSources(request)
  const position = findPosition(cursor, sources)
  if (position !== undefined) return fillPage(emptyPage, position, sources, request)
  const page = withCallerCacheScope(readPage(catalog.resources, cursor, call), request)
  const [source] = sources
  if (source === undefined || page['nextCursor'] !== undefined) return page
  return fillPage(page, { source, authorCursor: undefined }, sources, request)
}

function findPosition(cursor: string | undefined, sources: readonly ListSource[]): SourcePosition | undefined {
  const [sourceCursor, ...authorCursorParts] = (cursor ?? '').split('.')
  const source = sources.find((each) => each.cursor === sourceCursor)
  if (source === undefined) return undefined
  return { source, authorCursor: authorCursorParts.length > 0 ? authorCursorParts.join('.') : undefined }
}

/** Makes a page private if a template that is not visible to every caller may have contributed to it. */
function withCallerCacheScope(page: JsonObject, request: ServedRequest): JsonObject {
  const variesByCaller = templatesWithList(request).some(({ visibleTo }) => visibleTo !== undefined)
  return { ...page, ...(variesByCaller && { cacheScope: 'private' }) }
}

const emptyPage: JsonObject = { resources: [] }

/**
 * Adds pages of sources, starting from a position, until the page is full. A source's last page is not split, so the
 * result may exceed the page size.
 */
async function fillPage(
  fixedPage: JsonObject,
  position: SourcePosition,
  sources: readonly ListSource[],
  request: ServedRequest,
): Promise<JsonObject> {
  const { resources, pages, next } = await readResourcePages(fixedPage, position, sources, request)
  const result = {
    resultType: 'complete',
    resources,
    ...joinCacheHints(pages),
    ...(next !== undefined && { nextCursor: formatCursor(next) }),
    _meta: request.catalog.resultMeta,
  }
  return withCallerCacheScope(result, request)
}

async function readResourcePages(
  fixedPage: JsonObject,
  position: SourcePosition,
  sources: readonly ListSource[],
  request: ServedRequest,
) {
  const resources: JsonValue[] = Array.isArray(fixedPage['resources']) ? [...fixedPage['resources']] : []
  // An empty page is left out, because its caching hints say nothing about the entries that follow.
  const pages = resources.length === 0 ? [] : [fixedPage]
  let next: SourcePosition | undefined = position
  for (let count = 0; next !== undefined && count < maxResourcePages; count++) {
    if (count > 0 && resources.length >= request.catalog.resources.options.pageSize) break
    const { source }: SourcePosition = next
    const listed: ResourcePage | undefined = await readResourcePage(next, resources.length > 0)
    if (listed === undefined) break
    resources.push(...listed.resources.flatMap((resource) => toListEntries(resource, source, request)))
    pages.push({ ttlMs: listed.ttlMs ?? 0, cacheScope: listed.cacheScope ?? 'private' })
    next = nextPosition(next, listed, sources)
  }
  return { resources, pages, next }
}

/** A joined page has the shortest `ttlMs`, and is `public` only if every page is. */
function joinCacheHints(pages: readonly JsonObject[]): JsonObject {
  return {
    ttlMs: Math.min(...pages.map(({ ttlMs }) => Number(ttlMs))),
    cacheScope: pages.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private',
  }
}

/**
 * Reads one page of a source. If that fails while the joined page has entries, it is undefined: the joined page ends
 * here, and the client gets the error when it requests the next one.
 */
async function readResourcePage(
  { source, authorCursor }: SourcePosition,
  hasEntries: boolean,
): Promise<ResourcePage | undefined> {
  try {
    return await source.list(authorCursor)
  } catch (error) {
    if (hasEntries) return undefined
    throw error
  }
}

function nextPosition(
  { source }: SourcePosition,
  { nextCursor }: ResourcePage,
  sources: readonly ListSource[],
): SourcePosition | undefined {
  if (nextCursor !== undefined) return { source, authorCursor: nextCursor }
  const nextSource = sources[sources.indexOf(source) + 1]
  return nextSource && { source: nextSource, authorCursor: undefined }
}

function formatCursor({ source, authorCursor }: SourcePosition): string {
  return authorCursor === undefined ? source.cursor : `${source.cursor}.${authorCursor}`
}

/** An invalid entry is logged and left out, because a client could not read the resource. */
function toListEntries(resource: ListedResource, source: ListSource, request: ServedRequest): readonly JsonObject[] {
  try {
    return [source.toEntry(resource)]
  } catch (cause) {
    const error = new Error('A listed resource was left out', { cause })
    reportServerError(error, logContextOf(request, source.name), request.settings)
    return []
  }
}
