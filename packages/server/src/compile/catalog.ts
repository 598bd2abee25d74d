import type { CacheScope, ClientCapabilities, JsonObject, HeaderParam, ServerCapabilities } from '@x/schema'
import type { Completer } from '../definitions/described.ts'
import type { Listed, Listing } from './pages.ts'
import type { AnyPromptDefinition } from '../definitions/prompt.ts'
import type { AnyTemplateDefinition, ResourceDefinition } from '../definitions/resource.ts'
import type { CompiledSchema } from '../json-schema/schemas.ts'
import type { AnyToolDefinition } from '../definitions/tool.ts'
import type { UriTemplate } from '../definitions/uri-template.ts'

/** Everything that a server needs of its definitions, made once and never changed; an update makes another. */
export interface Catalog {
  readonly capabilities: ServerCapabilities
  /** The `_meta` of every result that has none of its own. */
  readonly resultMeta: JsonObject | undefined
  /** The answer to `server/discover`. */
  readonly discovery: JsonObject
  readonly tools: Listing<CompiledTool>
  readonly prompts: Listing<CompiledPrompt>
  readonly resources: Listing<CompiledResource>
  readonly templates: Listing<CompiledTemplate>
}

/** The compiled form that all definitions share. */
export interface CompiledDefinition extends Listed {
  readonly requires: ClientCapabilities | undefined
}

/** A tool that is ready to be called. */
export interface CompiledTool extends CompiledDefinition {
  readonly input: CompiledSchema['check']
  readonly output: CompiledSchema['check'] | undefined
  /** The arguments that HTTP headers repeat. */
  readonly mirrored: readonly HeaderParam[]
  readonly definition: AnyToolDefinition
}

/** A prompt that is ready to be filled in. */
export interface CompiledPrompt extends CompiledDefinition {
  readonly input: CompiledSchema['check']
  readonly required: readonly string[]
  /** Every argument, and what completes it. */
  readonly completers: ReadonlyMap<string, Completer | undefined>
  readonly definition: AnyPromptDefinition
}

/** A resource that is ready to be read. */
export interface CompiledResource extends CompiledDefinition {
  readonly cache: ReadHints
  readonly definition: ResourceDefinition
}

/** A template that is ready to be matched. */
export interface CompiledTemplate extends CompiledDefinition {
  readonly cache: ReadHints
  readonly template: UriTemplate
  /** Every variable, and what completes it. */
  readonly completers: ReadonlyMap<string, Completer | undefined>
  readonly definition: AnyTemplateDefinition
}

/** The caching hints of a read result, unless the reading itself gives some. */
export interface ReadHints {
  readonly ttlMs: number
  readonly scope: CacheScope
}

/** Returns the `_meta` of a result: the author's, with the server's name and version (basic/index, `_meta`). */
export function resultMeta(own: JsonObject | undefined, { resultMeta }: Catalog): JsonObject | undefined {
  return own === undefined ? resultMeta : { ...own, ...resultMeta }
}
