/**
 * Compilation of JSON Schema by ajv, for tools that are defined by it.
 *
 * @module @x/server/ajv
 */

import type { JsonSchemaCompiler, SchemaIssue } from '@x/schema'
import type { ErrorObject, ValidateFunction } from 'ajv'

/** The part of an Ajv instance that compiling needs. */
export interface AjvLike {
  compile(schema: object): ValidateFunction
}

/**
 * Compiles JSON Schema with an Ajv of yours, for `compileSchema` of `createServer`: much faster than the default, but
 * it makes code with `new Function`, which some platforms forbid.
 *
 * Give an instance of `Ajv2020` with `{ strict: false }`. Formats come with `ajv-formats`. Leave `allErrors` off where
 * callers are not trusted: with it, ajv lists every fault of a value, which may be thousands. The instance keeps every
 * schema that it compiled, so make one per server and not one per request.
 *
 * @example
 * import { Ajv2020 } from 'ajv/dist/2020.js'
 * const compileSchema = ajvCompiler(new Ajv2020({ strict: false }))
 */
export function ajvCompiler(ajv: AjvLike): JsonSchemaCompiler {
  return (schema) => {
    const validate = ajv.compile(schema)
    return (value) => (validate(value) ? noIssues : (validate.errors ?? []).slice(0, maxIssues).map(toSchemaIssue))
  }
}

/** The issues that are copied of one value; ajv may have listed thousands. */
const maxIssues = 20

const noIssues: readonly SchemaIssue[] = Object.freeze([])

function toSchemaIssue({ instancePath, message, params, keyword }: ErrorObject): SchemaIssue {
  const detail =
    keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : describeAllowedValues(params)
  return { path: instancePath, message: `${message ?? 'does not fit the schema'}${detail}` }
}

/** Ajv's message on an enum does not say which values there are. */
function describeAllowedValues(params: ErrorObject['params']): string {
  const values: unknown = params['allowedValues']
  return Array.isArray(values) ? `: ${values.map((value) => JSON.stringify(value)).join(', ')}` : ''
}
