import type { JsonObject } from '../basic/json.ts'

/** What is wrong with a value. */
export interface SchemaIssue {
  /** JSON Pointer to the value at fault; empty for the whole. */
  readonly path: string
  readonly message: string
}

/**
 * Turns a JSON Schema into a function that lists what is wrong with a value: nothing when it is valid. Throws when the
 * schema itself cannot be used. `compileJsonSchema` of `@x/schema/json-schema` is one.
 */
export type JsonSchemaCompiler = (schema: JsonObject) => (value: unknown) => readonly SchemaIssue[]
