import {
  type Annotations,
  type CacheScope,
  errorCodes,
  type JsonObject,
  type Resource as ListedResource,
  McpError,
} from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { Context, RequestContext, InputRequiredReturn } from './context.ts'
import type { CacheHints, Completer, BaseDefinition } from './base-definition.ts'
import type { UriVariables } from './uri-template.ts'

/** A resource, made by {@link resource}. */
export interface Resource {
  readonly uri: string
  readonly definition: ResourceDefinition
}

/** A template, made by {@link resourceTemplate}. */
export interface ResourceTemplate {
  readonly uriTemplate: string
  readonly definition: AnyTemplateDefinition
}

/** Members that resources and templates have in common. */
export interface ResourceDescription extends BaseDefinition {
  readonly name: string
  /** Tells the model what the content is. */
  readonly description?: string | undefined
  /** Media type of the resource, and of contents that have none of their own. */
  readonly mimeType?: string | undefined
  readonly annotations?: Annotations | undefined
  /** Caching of the contents. Default: scope `private` with a lifetime of 0, so none. */
  readonly cache?: CacheHints | undefined
}

/** A resource as you define it. */
export interface ResourceDefinition extends ResourceDescription {
  /** The size in bytes. */
  readonly size?: number | undefined
  /**
   * Reads the resource. An `McpError` that it throws becomes that protocol error. Any other error, even a `ToolError`,
   * is logged and becomes -32603 without its text.
   */
  read(ctx: Context): Awaitable<ResourceReturn | InputRequiredReturn>
}

/** A template and its resources as you define them. */
export interface ResourceTemplateDefinition<Template extends string> extends ResourceDescription {
  /** Suggest values, by the names of the variables. */
  readonly complete?: { readonly [Name in keyof UriVariables<Template>]?: Completer | undefined } | undefined
  /**
   * Lists the resources that the caller may read, for `resources/list`: all of them, or one page. A page has the
   * `nextCursor` of the following one, which a later call receives as `cursor`; check it before use, because a client
   * may send any text. Entries without a `mimeType` get that of the template. Suggestions for variables without
   * `complete` come from the first 20 pages of this list.
   */
  readonly list?: ResourceLister | undefined
  /**
   * Reads one resource. Variables are decoded, not empty, and contain no segment `..`. Throw
   * {@link resourceNotFoundError} if the resource does not exist; other errors are handled as those of `read` of a
   * resource.
   */
  read(variables: UriVariables<Template>, ctx: Context): Awaitable<ResourceReturn | InputRequiredReturn>
}

/** A {@link ResourceTemplateDefinition} with any variables. */
export interface AnyTemplateDefinition extends ResourceTemplateDefinition<string> {}

/** Lists a template's resources: all of them, or the page that begins at a cursor. */
export type ResourceLister = (
  ctx: RequestContext,
  cursor: string | undefined,
) => Awaitable<readonly ListedResource[] | ResourcePage>

/** Some of a template's resources, as `resources/list` shows them (server/resources, listing resources). */
export interface ResourcePage {
  readonly resources: readonly ListedResource[]
  /** Cursor of the next page. Absent from the last one. */
  readonly nextCursor?: string | undefined
  /** Milliseconds that clients may cache the page. Default: 0. */
  readonly ttlMs?: number | undefined
  /** `public` allows shared caches, and requires that every caller gets the same page. Default: `private`. */
  /** Who may share the cached result. Default: that of `cache`. A resource with `visibleTo` is always `private`. */
  readonly cacheScope?: CacheScope | undefined
}

/**
 * The contents that `read` returns: text, bytes, one part or several, or parts together with the caching of the whole
 * result.
 */
export type ResourceReturn = string | Uint8Array | ResourcePart | readonly ResourcePart[] | ResourceReadContent

/** One part of a resource's contents. */
export interface ResourcePart {
  /** Default: the requested URI. */
  readonly uri?: string | undefined
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  /** Bytes, or text that is already Base64. */
  readonly blob?: Uint8Array | string | undefined
  readonly _meta?: JsonObject | undefined
}

/** A resource's contents in parts, with members of the result as a whole. */
export interface ResourceReadContent {
  /** At least one. An empty resource is one part with empty text. */
  readonly contents: readonly ResourcePart[]
  /** Milliseconds for which clients may cache the result. Default: that of `cache`. */
  readonly ttlMs?: number | undefined
  readonly cacheScope?: CacheScope | undefined
  readonly _meta?: JsonObject | undefined
}

/**
 * Defines a resource with a fixed URI. Nothing is checked before `createServer`.
 *
 * @example
 * const motd = resource('text://motd', { name: 'Message of the day', read: () => 'Be kind.' })
 */
export function resource(uri: string, definition: ResourceDefinition): Resource {
  return { uri, definition }
}

/**
 * Defines resources whose URIs follow a template: `{name}` matches text without slashes, `{+name}` text with slashes.
 * Nothing is checked before `createServer`.
 *
 * @example
 * const page = resourceTemplate('wiki://{space}/{+page}', {
 *   name: 'Wiki page',
 *   read: ({ space, page }) => wiki.read(space, page),
 * })
 */
export function resourceTemplate<const Template extends string>(
  uriTemplate: Template,
  definition: ResourceTemplateDefinition<Template>,
): ResourceTemplate {
  return { uriTemplate, definition }
}

/** For a resource that does not exist (server/resources, error handling). */
export function resourceNotFoundError(uri: string): McpError {
  return new McpError(errorCodes.invalidParams, 'Resource not found', { data: { uri } })
}
