import type { JsonObject } from '@x/core'
import type { SchemaIssue } from '@x/schema'

/** A compiled schema belongs to a tool and goes with it. */
const checks = new WeakMap<JsonObject, (value: unknown) => readonly SchemaIssue[]>()

/** Empty for a value that the schema accepts. The validator is loaded when a call needs it. */
export async function checkSchema(schema: JsonObject, value: unknown): Promise<readonly SchemaIssue[]> {
  const { compileJsonSchema } = await import('@x/schema/json-schema')
  const check = checks.get(schema) ?? compileJsonSchema(schema)
  checks.set(schema, check)
  return check(value)
}
