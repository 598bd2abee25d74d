import type { JsonSchemaCompiler } from '@x/schema'
import {
  type AnySchema,
  type CompiledSchema,
  compileSchema,
  jsonPointerOf,
  type SchemaCompilationSettings,
} from './compile-schema.ts'

/** The input schema that the specification recommends for a tool without parameters (server/tools, tool). */
const noArgumentsSchema = Object.freeze({ type: 'object', additionalProperties: false })

/** Compiles {@link noArgumentsSchema}, which needs no validator of JSON Schema. */
const compileNoArguments: JsonSchemaCompiler = () => (value) =>
  Object.keys(Object(value)).map((name) => ({ path: jsonPointerOf([name]), message: 'Nothing is allowed here.' }))

/** Compiles the schema of arguments. A definition without a schema has no arguments. */
export function compileInput(schema: AnySchema | undefined, schemaOptions: SchemaCompilationSettings): CompiledSchema {
  if (schema !== undefined) return compileSchema(schema, schemaOptions)
  return compileSchema(noArgumentsSchema, { ...schemaOptions, compile: compileNoArguments })
}
