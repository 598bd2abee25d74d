import * as z from 'zod'
import { baseMetadataShape, iconsShape } from '../basic/implementation.zod.ts'
import { jsonValue } from '../basic/json.zod.ts'
import { metaObject, notificationParams } from '../basic/meta.zod.ts'
import { notificationOf } from '../basic/rpc.zod.ts'
import type { Tool, ToolAnnotations, ToolInputSchema, ToolListChangedNotification, ToolOutputSchema } from './tools.ts'

/** Validates {@link ToolAnnotations}. */
export const toolAnnotations: z.ZodType<ToolAnnotations> = z.looseObject({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})

const inputSchema: z.ZodType<ToolInputSchema> = z
  .object({ $schema: z.string().optional(), type: z.literal('object') })
  .catchall(jsonValue)

const outputSchema: z.ZodType<ToolOutputSchema> = z.object({ $schema: z.string().optional() }).catchall(jsonValue)

/** Validates a {@link Tool}; its schemas are JSON objects here, and nothing is said of their keywords. */
export const tool: z.ZodType<Tool> = z.looseObject({
  ...baseMetadataShape,
  ...iconsShape,
  _meta: metaObject.optional(),
  description: z.string().optional(),
  inputSchema,
  outputSchema: outputSchema.optional(),
  annotations: toolAnnotations.optional(),
})

/** Validates a {@link ToolListChangedNotification}. */
export const toolListChangedNotification: z.ZodType<ToolListChangedNotification> = notificationOf(
  'notifications/tools/list_changed',
  notificationParams.optional(),
)
