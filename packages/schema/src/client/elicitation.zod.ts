import * as z from 'zod/mini'
import { uri } from '../basic/json.zod.ts'
import type {
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  RequestedSchema,
} from './elicitation.ts'
import { primitiveSchemaDefinition } from './elicitation-schema.zod.ts'

const requestedSchema: z.ZodMiniType<RequestedSchema> = z.looseObject({
  $schema: z.optional(z.string()),
  type: z.literal('object'),
  properties: z.record(z.string(), primitiveSchemaDefinition),
  required: z.optional(z.array(z.string())),
})

/** Validates an {@link ElicitRequestFormParams}. */
export const elicitRequestFormParams: z.ZodMiniType<ElicitRequestFormParams> = z.looseObject({
  mode: z.optional(z.literal('form')),
  message: z.string(),
  requestedSchema,
})

/** Validates an {@link ElicitRequestURLParams}. */
export const elicitRequestURLParams: z.ZodMiniType<ElicitRequestURLParams> = z.looseObject({
  mode: z.literal('url'),
  message: z.string(),
  url: uri,
})

/** Validates {@link ElicitRequestParams}. */
export const elicitRequestParams: z.ZodMiniType<ElicitRequestParams> = z.union([
  elicitRequestFormParams,
  elicitRequestURLParams,
])

/** Validates an {@link ElicitRequest}. */
export const elicitRequest: z.ZodMiniType<ElicitRequest> = z.looseObject({
  method: z.literal('elicitation/create'),
  params: elicitRequestParams,
})

/**
 * Validates an {@link ElicitResult}. The published JSON Schema omits fractions of numbers; the specification's
 * TypeScript, the source of truth, allows them (basic/index, schema).
 */
export const elicitResult: z.ZodMiniType<ElicitResult> = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))),
})
