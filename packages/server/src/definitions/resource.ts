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
import type { UriVariables, VariableNames } from './uri-template.ts'

/** A resource, as {@link resource} makes it. */
export interface Resource {
  readonly uri: string
  readonly definition: ResourceDefinition
}

/** A template of resources, as {@link resourceTemplate} makes it. */
export interface ResourceTemplate {
  readonly uriTemplate: string
  readonly definition: AnyTemplateDefinition
}

/** The description of a resource or template. */
export interface ResourceDescription extends BaseDefinition {
  readonly name: string
  /** Its content, described for the model. */
  readonly description?: string | undefined
  /** Also the media type of what is read, where the contents do not say otherwise. */
  readonly mimeType?: string | undefined
  readonly annotations?: Annotations | undefined
  /** For how long and by whom what is read may be kept: not at all, and private, when absent. */
  readonly cache?: CacheHints | undefined
}

/** The definition of a resource. */
export interface ResourceDefinition extends ResourceDescription {
  /** Bytes of the content. */
  readonly size?: number | undefined
  read(ctx: Context): Awaitable<ResourceReturn | InputRequiredReturn>
}

/** The definition of a template's resources. */
export interface ResourceTemplateDefinition<Template extends string> extends ResourceDescription {
  /** Suggests values, by variable. */
  readonly complete?: { readonly [Name in VariableNames<Template>]?: Completer } | undefined
  /**
   * Lists the resources that the caller may read, for `resources/list`: all of them, or a page with the `nextCursor` of
   * the following one, which a later call receives as `cursor`. Clients send cursors: check one before use. Entries
   * without a `mimeType` have the template's. Variables without a `complete` of their own are completed from this list,
   * of which at most 20 pages are read.
   */
  readonly list?: ResourceLister | undefined
  /**
   * Reads one. The variables are decoded, never empty, and hold no `..` between slashes. Throw
   * {@link resourceNotFoundError} where they name nothing.
   */
  read(variables: UriVariables<Template>, ctx: Context): Awaitable<ResourceReturn | InputRequiredReturn>
}

/** A {@link ResourceTemplateDefinition} of which only the server knows the variables. */
export interface AnyTemplateDefinition extends ResourceDescription {
  readonly complete?: { readonly [name: string]: Completer | undefined } | undefined
  readonly list?: ResourceLister | undefined
  read(variables: { readonly [name: string]: string }, ctx: Context): Awaitable<ResourceReturn | InputRequiredReturn>
}

/** Lists the resources of a template: all of them, or those behind a cursor. */
export type ResourceLister = (
  ctx: RequestContext,
  cursor: string | undefined,
) => Awaitable<readonly ListedResource[] | ResourcePage>

/** Some of a template's resources, as `resources/list` shows them (server/resources, listing resources). */
export interface ResourcePage {
  readonly resources: readonly ListedResource[]
  /** Continues the list, absent from the last page. */
  readonly nextCursor?: string | undefined
  /** Milliseconds that the page may be kept. Default: 0. */
  readonly ttlMs?: number | undefined
  /** `public` only where every caller gets the same. Default: `private`. */
  readonly cacheScope?: CacheScope | undefined
}

/** The return type of `read`: text, bytes, one part or several, or parts with members that belong to all of them. */
export type ResourceReturn = string | Uint8Array | ResourcePart | readonly ResourcePart[] | ResourceReadContent

/** One part of a resource's contents. */
export interface ResourcePart {
  /** The URI of the part. Default: the requested one. */
  readonly uri?: string | undefined
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  /** Bytes, or bytes that are in Base64 already. */
  readonly blob?: Uint8Array | string | undefined
  readonly _meta?: JsonObject | undefined
}

/** The parts of a resource's contents, and what this reading says of all of them. */
export interface ResourceReadContent {
  /** At least one: an empty resource is a part with empty text. */
  readonly contents: readonly ResourcePart[]
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

/** The error that answers a read of something that is not there (server/resources, error handling). */
export function resourceNotFoundError(uri: string): McpError {
  return new McpError(errorCodes.invalidParams, 'Resource not found', { data: { uri } })
}
