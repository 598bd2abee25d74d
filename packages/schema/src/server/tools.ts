import { type BaseMetadata, baseMetadataMembers, type Icons, iconsMembers } from '../basic/implementation.ts'
import type { JsonValue } from '@x/core'
import { type MetaObject, metaObject, type NotificationParams, notificationParams } from '../basic/meta.ts'
import { jsonrpc } from '../basic/rpc.ts'
import { boolean, looseShape, optional, shape, string, literal } from '../basic/shape.ts'

/** A server's hints about a tool's behaviour (server/tools). Never trust those of an untrusted server. */
export type ToolAnnotations = {
  /** The title for people, when the tool itself has none. */
  readonly title?: string | undefined
  /** Changes nothing. `false` when absent. */
  readonly readOnlyHint?: boolean | undefined
  /** May destroy rather than only add. `true` when absent. Without meaning for a read-only tool. */
  readonly destructiveHint?: boolean | undefined
  /** A second call with the same arguments changes nothing more. `false` when absent. */
  readonly idempotentHint?: boolean | undefined
  /** Reaches things outside the server's own domain. `true` when absent. */
  readonly openWorldHint?: boolean | undefined
}

/** The shape of {@link ToolAnnotations}. */
export const toolAnnotations = shape<ToolAnnotations>({
  title: optional(string),
  readOnlyHint: optional(boolean),
  destructiveHint: optional(boolean),
  idempotentHint: optional(boolean),
  openWorldHint: optional(boolean),
})

/**
 * The JSON Schema of a tool's arguments, which are always an object. Dialect 2020-12 unless `$schema` says otherwise.
 */
export type ToolInputSchema = {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly [keyword: string]: JsonValue | undefined
}

/** The JSON Schema of a tool's structured result. Dialect 2020-12 unless `$schema` says otherwise. */
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
export const tool = shape<Tool>({
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  _meta: optional(metaObject),
  inputSchema: looseShape<ToolInputSchema>({ $schema: optional(string), type: literal('object') }),
  outputSchema: optional(looseShape<ToolOutputSchema>({ $schema: optional(string) })),
  annotations: optional(toolAnnotations),
})

/** Notifies subscribers that the list of tools has changed (server/tools, list changed notification). */
export type ToolListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/tools/list_changed'
  readonly params?: NotificationParams | undefined
}

/** The shape of {@link ToolListChangedNotification}. */
export const toolListChangedNotification = shape<ToolListChangedNotification>({
  jsonrpc,
  method: literal('notifications/tools/list_changed'),
  params: optional(notificationParams),
})
