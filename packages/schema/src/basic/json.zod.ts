import * as z from 'zod/mini'
import { isJson, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from './json.ts'

/**
 * Validates a {@link JsonValue}. The published JSON Schema forgets `null` and fractions here; the specification's
 * TypeScript, which is the source of truth, has them (basic/index, schema).
 */
export const jsonValue: z.ZodMiniType<JsonValue> = z.custom<JsonValue>(
  (value) => isJson(value),
  'expected a JSON value',
)

/** Validates a {@link JsonObject}. */
export const jsonObject: z.ZodMiniType<JsonObject> = z.custom<JsonObject>(
  (value) => isJsonObject(value) && isJson(value),
  'expected a JSON object',
)

/** Validates a {@link JsonArray}. */
export const jsonArray: z.ZodMiniType<JsonArray> = z.custom<JsonArray>(
  (value) => Array.isArray(value) && isJson(value),
  'expected a JSON array',
)
