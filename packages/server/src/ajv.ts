/**
 * Lets ajv check tools whose schemas are JSON Schema.
 *
 * @module @x/server/ajv
 */

import type { JsonSchemaCompiler, SchemaIssue } from '@x/schema'
import type { ErrorObject, ValidateFunction } from 'ajv'

/** As much of an Ajv instance as {@link ajvCompiler} uses. */
export interface AjvLike {
  compile(schema: object): ValidateFunction
}

/**
 * Compiles with your Ajv instance, for the option `compileSchema` of `createServer`. That is much faster than the
 * default, but generates code with `new Function`, which some platforms forbid.
 *
 * Pass an instance of `Ajv2020` with `{ strict: false }`, and add `ajv-formats` to check formats. Do not set
 * `allErrors` if callers are untrusted: ajv then lists every fault of a value, which may be thousands. The instance
 * keeps every schema that it compiled, so create one for each server, not for each request.
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

/** How many issues are copied for one value, of which ajv may have found thousands. */
const maxIssues = 20

const noIssues: readonly SchemaIssue[] = Object.freeze([])

function toSchemaIssue({ instancePath, message, params, keyword }: ErrorObject): SchemaIssue {
  const detail =
    keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : describeAllowedValues(params)
  return { path: instancePath, message: `${message ?? 'does not fit the schema'}${detail}` }
}

function describeAllowedValues(params: ErrorObject['params']): string {
  const values: unknown = params['allowedValues']
  return Array.isArray(values) ? `: ${values.map((value) => JSON.stringify(value)).join(', ')}` : ''
}
