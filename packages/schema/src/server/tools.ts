import { type BaseMetadata, baseMetadataMembers, type Icons, iconsMembers } from '../basic/implementation.ts'
import type { JsonValue } from '@x/core'
import { type MetaObject, metaObject } from '../basic/meta.ts'
import { boolean, looseShape, optional, type Shape, shape, string, literal } from '../basic/shape.ts'

/**
 * What a server says about the behaviour of a tool (server/tools). A client must not rely on the hints of an untrusted
 * server.
 */
export type ToolAnnotations = {
  /** Title for people, if the tool itself has none. */
  readonly title?: string | undefined
  /** The tool changes nothing. Absent means false. */
  readonly readOnlyHint?: boolean | undefined
  /** The tool may delete or overwrite, and not only add. Absent means true. Means nothing for a read-only tool. */
  readonly destructiveHint?: boolean | undefined
  /** A second call with the same arguments changes nothing more. Absent means false. */
  readonly idempotentHint?: boolean | undefined
  /** The tool reaches things outside the server's own domain. Absent means true. */
  readonly openWorldHint?: boolean | undefined
}

export const toolAnnotations: Shape<ToolAnnotations> = shape<ToolAnnotations>({
  title: optional(string),
  readOnlyHint: optional(boolean),
  destructiveHint: optional(boolean),
  idempotentHint: optional(boolean),
  openWorldHint: optional(boolean),
})

/** JSON Schema of a tool's arguments, which are always an object. Without `$schema`, the dialect is 2020-12. */
export type ToolInputSchema = {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly [keyword: string]: JsonValue | undefined
}

/** JSON Schema of a tool's structured result. Without `$schema`, the dialect is 2020-12. */
export type ToolOutputSchema = {
  readonly $schema?: string | undefined
  readonly [keyword: string]: JsonValue | undefined
}

/** A tool that a model can call (server/tools, tool). */
export type Tool = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    /** What the tool is for, in words for the model. */
    readonly description?: string | undefined
    readonly inputSchema: ToolInputSchema
    /** Schema of `structuredContent` in the tool's results. */
    readonly outputSchema?: ToolOutputSchema | undefined
    readonly annotations?: ToolAnnotations | undefined
  }

// Each member of the type has its shape here, such as `optional(string)`.
export const tool: Shape<Tool> = shape<Tool>({
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  _meta: optional(metaObject),
  inputSchema: looseShape<ToolInputSchema>({ $schema: optional(string), type: literal('object') }),
  outputSchema: optional(looseShape<ToolOutputSchema>({ $schema: optional(string) })),
  annotations: optional(toolAnnotations),
})
