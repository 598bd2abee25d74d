import { requireSync } from '@x/core'
import { DefinitionError } from '@x/exchange'
import { findSchemaProblem, type JsonObject, type JsonSchemaCompiler, type SchemaIssue } from '@x/schema'
import type { JsonSchemaRules, ValueValidator } from './compile-schema.ts'

/** The rules for the schemas of definitions, which may be any JSON Schema. `compile` replaces the default validator. */
export function createSchemaRules(compile: JsonSchemaCompiler | undefined): JsonSchemaRules {
  return {
    findProblem: findSchemaProblem,
    createValidator: (jsonSchema, errorSubject) =>
      compile === undefined
        ? createDefaultValidator(jsonSchema)
        : compileValidator(jsonSchema, { compile, errorSubject }),
    // The default validator stops after ten issues; how many others find is unknown.
    stopsEarly: compile === undefined,
  }
}

function compileValidator(
  jsonSchema: JsonObject,
  { compile, errorSubject }: { readonly errorSubject: string; readonly compile: JsonSchemaCompiler },
): ValueValidator {
  try {
    return requireSync('compileSchema', compile(jsonSchema))
  } catch (cause) {
    const causeMessage = cause instanceof Error ? cause.message : 'it does not compile'
    const reason = `the JSON Schema cannot be used: ${causeMessage}`
    throw new DefinitionError('schema', errorSubject, { reason, cause })
  }
}

/**
 * Loads `compileTrustedJsonSchema` with the first value. A server whose schemas are those of a library, such as zod,
 * never does, and starts faster. The schema must be one that `findSchemaProblem` accepts, so that it compiles.
 */
function createDefaultValidator(schema: JsonObject): ValueValidator {
  let validate: ValueValidator | undefined
  const loadValidator = async (): Promise<ValueValidator> => {
    const { compileTrustedJsonSchema } = await import('@x/schema/json-schema')
    validate ??= compileTrustedJsonSchema(schema)
    return validate
  }
  return (value) =>
    validate?.(value) ?? loadValidator().then<readonly SchemaIssue[]>((loadedValidator) => loadedValidator(value))
}
