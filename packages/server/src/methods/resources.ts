import type {
  BlobResourceContents,
  JsonObject,
  PaginatedRequestParams,
  ReadResourceRequestParams,
  ReadResourceResult,
  TextResourceContents,
} from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import { encodeBase64 } from '../compile/base64.ts'
import { type CompiledResource, type CompiledTemplate, resultMeta } from '../compile/catalog.ts'
import type { Context } from '../definitions/context.ts'
import type { InputRequired } from '../definitions/input-required.ts'
import { replay } from '../replay/replay.ts'
import { findVisible, isVisible, readPage } from '../compile/pages.ts'
import { listingTemplates, pageWithTemplates } from './list-templates.ts'
import {
  type ResourceContent,
  type ResourcePart,
  type ResourceReturn,
  resourceNotFound,
} from '../definitions/resource.ts'
import { requireCapabilities, type RequestState } from '../replay/served-request.ts'
import { matchUriTemplate } from '../definitions/uri-template.ts'

/** A page of the resources that the caller may read (server/resources, listing resources). */
export function listResources({ cursor }: PaginatedRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const isWhole = listingTemplates(catalog).length === 0
  return isWhole ? readPage(catalog.resources, cursor, call) : pageWithTemplates(cursor, request)
}

/** A page of the templates that the caller may use (server/resources, resource templates). */
export function listResourceTemplates({ cursor }: PaginatedRequestParams, { catalog, call }: RequestState): JsonObject {
  return readPage(catalog.templates, cursor, call)
}

/** Reads a resource: that of the very URI, or else of the first template that the URI fits (server/resources). */
export function readResource({ uri }: ReadResourceRequestParams, request: RequestState): Awaitable<JsonObject> {
  const { catalog, call } = request
  const resource = findVisible(catalog.resources, uri, call)
  if (resource !== undefined) {
    requireCapabilities(resource.requires, request)
    return runRead((ctx) => resource.definition.read(ctx), { uri, resource, request })
  }
  for (const template of catalog.templates.byKey.values()) {
    const variables = isVisible(template, call) ? matchUriTemplate(template.template, uri) : undefined
    if (variables !== undefined) {
      requireCapabilities(template.requires, request)
      return runRead((ctx) => template.definition.read(variables, ctx), { uri, resource: template, request })
    }
  }
  throw resourceNotFound(uri)
}

interface ReadTarget {
  readonly uri: string
  readonly resource: CompiledResource | CompiledTemplate
  readonly request: RequestState
}

function runRead(
  run: (ctx: Context) => Awaitable<ResourceReturn | InputRequired>,
  target: ReadTarget,
): Awaitable<JsonObject> {
  const finish = (returned: ResourceReturn) => resourceResult(returned, target)
  return replay({ name: target.uri, run, finish }, target.request)
}

function resourceResult(returned: ResourceReturn, { uri, resource, request }: ReadTarget): ReadResourceResult {
  const { contents, ttlMs, cacheScope, _meta } = resourceContent(returned)
  // An empty list could mean that there is no such resource (server/resources, error handling).
  if (contents.length === 0) {
    throw new Error(`Reading ${uri} gave no contents; return empty text, or throw resourceNotFound(uri)`)
  }
  const meta = resultMeta(_meta, request.catalog)
  return {
    resultType: 'complete',
    contents: contents.map((part) => encodePart(part, uri, resource.definition.mimeType)),
    ttlMs: ttlMs ?? resource.cache.ttlMs,
    cacheScope: cacheScope ?? resource.cache.scope,
    ...(meta && { _meta: meta }),
  }
}

function resourceContent(returned: ResourceReturn): ResourceContent {
  if (typeof returned === 'string') return { contents: [{ text: returned }] }
  if (returned instanceof Uint8Array) return { contents: [{ blob: returned }] }
  if (isParts(returned)) return { contents: returned }
  return 'contents' in returned ? returned : { contents: [returned] }
}

function isParts(returned: ResourceReturn): returned is readonly ResourcePart[] {
  return Array.isArray(returned)
}

function encodePart(
  part: ResourcePart,
  uri: string,
  mimeType: string | undefined,
): TextResourceContents | BlobResourceContents {
  const type = part.mimeType ?? mimeType
  const about = {
    uri: part.uri ?? uri,
    ...(type !== undefined && { mimeType: type }),
    ...(part._meta && { _meta: part._meta }),
  }
  if (part.text !== undefined) return { ...about, text: part.text }
  if (part.blob === undefined) throw new Error(`A part of ${uri} has neither text nor blob`)
  return { ...about, blob: typeof part.blob === 'string' ? part.blob : encodeBase64(part.blob) }
}
