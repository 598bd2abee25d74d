import type { JsonObject } from '../basic/json.ts'

/** A validation issue of a value. */
export interface SchemaIssue {
  /** JSON Pointer to the invalid part; empty for the whole value. */
  readonly path: string
  readonly message: string
}

/**
 * Compiles a JSON Schema into a function that lists the issues of a value: none when it is valid. Throws when the
 * schema itself is invalid. `compileJsonSchema` of `@x/schema/json-schema` is one.
 */
export type JsonSchemaCompiler = (schema: JsonObject) => (value: unknown) => readonly SchemaIssue[]
