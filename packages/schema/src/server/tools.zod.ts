import * as z from 'zod/mini'
import { baseMetadataShape, iconsShape } from '../basic/implementation.zod.ts'
import { jsonValue } from '../basic/json.zod.ts'
import { metaObject, notificationParams } from '../basic/meta.zod.ts'
import { notificationValidator } from '../basic/rpc.zod.ts'
import type { Tool, ToolAnnotations, ToolInputSchema, ToolListChangedNotification, ToolOutputSchema } from './tools.ts'

/** Validates {@link ToolAnnotations}. */
export const toolAnnotations: z.ZodMiniType<ToolAnnotations> = z.looseObject({
  title: z.optional(z.string()),
  readOnlyHint: z.optional(z.boolean()),
  destructiveHint: z.optional(z.boolean()),
  idempotentHint: z.optional(z.boolean()),
  openWorldHint: z.optional(z.boolean()),
})

const inputSchema: z.ZodMiniType<ToolInputSchema> = z.catchall(
  z.object({ $schema: z.optional(z.string()), type: z.literal('object') }),
  jsonValue,
)

const outputSchema: z.ZodMiniType<ToolOutputSchema> = z.catchall(
  z.object({ $schema: z.optional(z.string()) }),
  jsonValue,
)

/** Validates a {@link Tool}; its schemas are JSON objects here, and their keywords are not checked. */
export const tool: z.ZodMiniType<Tool> = z.looseObject({
  ...baseMetadataShape,
  ...iconsShape,
  _meta: z.optional(metaObject),
  description: z.optional(z.string()),
  inputSchema,
  outputSchema: z.optional(outputSchema),
  annotations: z.optional(toolAnnotations),
})

/** Validates a {@link ToolListChangedNotification}. */
export const toolListChangedNotification: z.ZodMiniType<ToolListChangedNotification> = notificationValidator(
  'notifications/tools/list_changed',
  z.optional(notificationParams),
)
