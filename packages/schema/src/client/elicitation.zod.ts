import * as z from 'zod'
import { uri } from '../basic/formats.zod.ts'
import type {
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  RequestedSchema,
} from './elicitation.ts'
import { primitiveSchemaDefinition } from './elicitation-schema.zod.ts'

const requestedSchema: z.ZodType<RequestedSchema> = z.looseObject({
  $schema: z.string().optional(),
  type: z.literal('object'),
  properties: z.record(z.string(), primitiveSchemaDefinition),
  required: z.array(z.string()).optional(),
})

/** Validates an {@link ElicitRequestFormParams}. */
export const elicitRequestFormParams: z.ZodType<ElicitRequestFormParams> = z.looseObject({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema,
})

/** Validates an {@link ElicitRequestURLParams}. */
export const elicitRequestURLParams: z.ZodType<ElicitRequestURLParams> = z.looseObject({
  mode: z.literal('url'),
  message: z.string(),
  url: uri,
})

/** Validates {@link ElicitRequestParams}. */
export const elicitRequestParams: z.ZodType<ElicitRequestParams> = z.union([
  elicitRequestFormParams,
  elicitRequestURLParams,
])

/** Validates an {@link ElicitRequest}. */
export const elicitRequest: z.ZodType<ElicitRequest> = z.looseObject({
  method: z.literal('elicitation/create'),
  params: elicitRequestParams,
})

/**
 * Validates an {@link ElicitResult}. The published JSON Schema forgets that a number may have a fraction; the
 * specification's TypeScript, which is the source of truth, does not (basic/index, schema).
 */
export const elicitResult: z.ZodType<ElicitResult> = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
})
