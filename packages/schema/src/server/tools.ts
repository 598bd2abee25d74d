import { type BaseMetadata, baseMetadataMembers, type Icons, iconsMembers } from '../basic/implementation.ts'
import type { JsonValue } from '@x/core'
import { type MetaObject, metaObject } from '../basic/meta.ts'
import { boolean, looseShape, optional, type Shape, shape, string, literal } from '../basic/shape.ts'

/**
 * A server's hints about the behaviour of a tool (server/tools). A client must not rely on the hints of an untrusted
 * server.
 */
export type ToolAnnotations = {
  /** The title for people. Used if the tool itself has no title. */
  readonly title?: string | undefined
  /** True if the tool changes nothing. Absent means false. */
  readonly readOnlyHint?: boolean | undefined
  /**
   * True if the tool may delete or overwrite, and not only add. Absent means true. It has no meaning for a read-only
   * tool.
   */
  readonly destructiveHint?: boolean | undefined
  /** True if a second call with the same arguments changes nothing more. Absent means false. */
  readonly idempotentHint?: boolean | undefined
  /** True if the tool reaches things outside the server's own domain. Absent means true. */
  readonly openWorldHint?: boolean | undefined
}

/** The shape of {@link ToolAnnotations}. */
export const toolAnnotations: Shape<ToolAnnotations> = shape<ToolAnnotations>({
  title: optional(string),
  readOnlyHint: optional(boolean),
  destructiveHint: optional(boolean),
  idempotentHint: optional(boolean),
  openWorldHint: optional(boolean),
})

/** The JSON Schema of a tool's arguments, which are always an object. Without `$schema`, the dialect is 2020-12. */
export type ToolInputSchema = {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly [keyword: string]: JsonValue | undefined
}

/** The JSON Schema of a tool's structured result. Without `$schema`, the dialect is 2020-12. */
export type ToolOutputSchema = {
  readonly $schema?: string | undefined
  readonly [keyword: string]: JsonValue | undefined
}

/** A tool that a model can call (server/tools, tool). */
export type Tool = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    /** A description of the tool's purpose, for the model. */
    readonly description?: string | undefined
    readonly inputSchema: ToolInputSchema
    /** The schema of `structuredContent` in the tool's results. */
    readonly outputSchema?: ToolOutputSchema | undefined
    readonly annotations?: ToolAnnotations | undefined
  }

/** The shape of {@link Tool}. */
export const tool: Shape<Tool> = shape<Tool>({
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  _meta: optional(metaObject),
  inputSchema: looseShape<ToolInputSchema>({ $schema: optional(string), type: literal('object') }),
  outputSchema: optional(looseShape<ToolOutputSchema>({ $schema: optional(string) })),
  annotations: optional(toolAnnotations),
})
