import * as z from 'zod/mini'
import { isJson, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '@x/core'
import type { RequestId } from './rpc.ts'

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

// In dialect 2020-12 a format is an annotation, and no available check matches the RFCs exactly. An invalid URI of a
// peer must not invalidate the whole message. Code that opens a URI or decodes Base64 reports the error.

/** A string that the published schema says is a URI; not checked. */
export const uri: z.ZodMiniType<string> = z.string()

/** A string that the published schema says is a template of RFC 6570; not checked. */
export const uriTemplate: z.ZodMiniType<string> = z.string()

/** A string that the published schema says is Base64; not checked. */
export const base64: z.ZodMiniType<string> = z.string()

/**
 * Validates a {@link RequestId}; an integer that JavaScript would round is rejected, since the response would carry
 * another id.
 */
export const requestId: z.ZodMiniType<RequestId> = z.union([z.string(), z.int()])
