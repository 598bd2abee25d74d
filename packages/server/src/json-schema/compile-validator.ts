import { requireSync } from '@x/core'
import { DefinitionError } from '@x/exchange'
import type { JsonObject, JsonSchemaCompiler, SchemaIssue } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'

type ValueValidator = (value: unknown) => Awaitable<readonly SchemaIssue[]>

/** Throws {@link DefinitionError} for a schema that the compiler rejects. */
export function compileValidator(
  jsonSchema: JsonObject,
  { compile, errorSubject }: { readonly errorSubject: string; readonly compile?: JsonSchemaCompiler | undefined },
): ValueValidator {
  if (compile === undefined) return createDefaultValidator(jsonSchema)
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
