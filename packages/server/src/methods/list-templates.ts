import type { JsonObject, Resource as ListedResource } from '@x/schema'
import { type Catalog, type CompiledTemplate, resultMeta } from '../compile/catalog.ts'
import type { Completer } from '../definitions/described.ts'
import { frozenObject } from '../json-schema/frozen-json.ts'
import { isVisible, readPage } from '../compile/pages.ts'
import type { RequestContext } from '../definitions/context.ts'
import { openRequestContext } from '../replay/open-context.ts'
import { report, type RequestState } from '../replay/served-request.ts'
import type { AnyTemplateDefinition, ResourcePage } from '../definitions/resource.ts'
import { matchUriTemplate, type UriTemplate } from '../definitions/uri-template.ts'

/** Returns the templates that list their resources, in their order. */
export function listingTemplates({ templates }: Catalog): readonly CompiledTemplate[] {
  return [...templates.byKey.values()].filter(({ definition }) => definition.list !== undefined)
}

/**
 * Returns a page of a list that goes on, behind the resources with URIs of their own, with those of each template that the caller may
 * use. A cursor of a template is the template's own cursor in the list of templates, a dot, and the cursor that the author gave.
 */
export async function pageWithTemplates(cursor: string | undefined, request: RequestState): Promise<JsonObject> {
  const { catalog, call } = request
  const all = listingTemplates(catalog)
  const visible = all.filter((template) => isVisible(template, call))
  const [key, ...own] = (cursor ?? '').split('.')
  const index = visible.findIndex((template) => catalog.templates.cursors.get(template) === key)
  const found = visible[index]
  if (found !== undefined) {
    const next = visible[index + 1]
    return templatePage(found, { cursor: own.length > 0 ? own.join('.') : undefined, next, request })
  }
  const page = readPage(catalog.resources, cursor, call)
  const first = visible[0]
  if (first !== undefined && page['nextCursor'] === undefined) {
    if (isEmpty(page)) return templatePage(first, { cursor: undefined, next: visible[1], request })
    return Object.assign(cacheVariesByCaller(page, all), { nextCursor: catalog.templates.cursors.get(first) })
  }
  return cacheVariesByCaller(page, all)
}

/** A page differs by caller where one of the templates behind it is not for everybody. */
function cacheVariesByCaller(page: JsonObject, templates: readonly CompiledTemplate[]): JsonObject {
  const varies = templates.some(({ visibleTo }) => visibleTo !== undefined)
  return { ...page, ...(varies && { cacheScope: 'private' }) }
}

function isEmpty({ resources }: JsonObject): boolean {
  return Array.isArray(resources) && resources.length === 0
}

interface TemplatePageOptions {
  readonly cursor: string | undefined
  /** The template whose resources follow. */
  readonly next: CompiledTemplate | undefined
  readonly request: RequestState
}

async function templatePage(template: CompiledTemplate, options: TemplatePageOptions): Promise<JsonObject> {
  const { cursor, next, request } = options
  const { catalog } = request
  const page = await readOwnPage(template.definition, openRequestContext(request), cursor)
  const { cursors } = catalog.templates
  const own = page.nextCursor === undefined ? undefined : `${cursors.get(template)}.${page.nextCursor}`
  const nextCursor = own ?? (next && cursors.get(next))
  const meta = resultMeta(undefined, catalog)
  return {
    resultType: 'complete',
    resources: page.resources.flatMap((listed) => wireOf(listed, template, request)),
    ...(nextCursor !== undefined && { nextCursor }),
    ttlMs: page.ttlMs ?? 0,
    cacheScope: page.cacheScope ?? 'private',
    ...(meta && { _meta: meta }),
  }
}

async function readOwnPage(
  definition: AnyTemplateDefinition,
  ctx: RequestContext,
  cursor: string | undefined,
): Promise<ResourcePage> {
  const returned = (await definition.list?.(ctx, cursor)) ?? []
  return isOneEntry(returned) ? { resources: returned } : returned
}

function isOneEntry(returned: ResourcePage | readonly ListedResource[]): returned is readonly ListedResource[] {
  return Array.isArray(returned)
}

/** An entry that could not be read is left out, and its author told: a client would only fail with it. */
function wireOf(
  listed: ListedResource,
  { definition, key, template }: CompiledTemplate,
  request: RequestState,
): JsonObject[] {
  const { mimeType } = definition
  try {
    const { uri, name } = listed
    if (matchUriTemplate(template, uri) === undefined)
      throw new Error(`${JSON.stringify(uri)} does not fit the template`)
    if (typeof name !== 'string' || name === '') throw new Error(`${uri} has no name`)
    return [frozenObject({ ...(mimeType !== undefined && { mimeType }), ...listed }, uri)]
  } catch (cause) {
    report(
      new Error('A listed resource was left out', { cause }),
      { method: request.method, name: key },
      request.settings,
    )
    return []
  }
}

/** The pages that one completion reads, and the most values that it gives. */
const maxPages = 20
const maxValues = 100

/** Makes the completer of a variable from the list of a template's resources. */
export function completeFromList(definition: AnyTemplateDefinition, template: UriTemplate, name: string): Completer {
  return async (typed, { arguments: others, ctx }) => {
    const values = new Set<string>()
    const wanted = typed.toLowerCase()
    let cursor: string | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const page = await readOwnPage(definition, ctx, cursor)
      for (const { uri } of page.resources) {
        const variables = matchUriTemplate(template, uri) ?? {}
        const value = variables[name]
        const fits = Object.entries(others).every(
          ([other, given]) => other === name || (variables[other] ?? given) === given,
        )
        if (fits && value?.toLowerCase().startsWith(wanted) === true) values.add(value)
      }
      cursor = page.nextCursor
      if (cursor === undefined) return [...values]
      if (values.size > maxValues) break
    }
    return { values: [...values], hasMore: true }
  }
}
