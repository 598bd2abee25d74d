import * as z from 'zod/mini'
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from './json.ts'

/** What the parser of messages lets through; deeper values, and cycles, are refused here as well. */
const maximumDepth = 256

function isJson(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return isScalar(value)
  if (depth === maximumDepth) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  return Object.values(value).every((item) => item === undefined || isJson(item, depth + 1))
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}

/**
 * Validates a {@link JsonValue}. The published JSON Schema forgets `null` and fractions here; the specification's
 * TypeScript, which is the source of truth, has them (basic/index, schema).
 */
export const jsonValue: z.ZodMiniType<JsonValue> = z.custom<JsonValue>(
  (value) => isJson(value, 0),
  'expected a JSON value',
)

/** Validates a {@link JsonObject}. */
export const jsonObject: z.ZodMiniType<JsonObject> = z.custom<JsonObject>(
  (value) => isJsonObject(value) && isJson(value, 0),
  'expected a JSON object',
)

/** Validates a {@link JsonArray}. */
export const jsonArray: z.ZodMiniType<JsonArray> = z.custom<JsonArray>(
  (value) => Array.isArray(value) && isJson(value, 0),
  'expected a JSON array',
)
