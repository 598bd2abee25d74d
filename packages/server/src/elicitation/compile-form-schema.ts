import type { StandardTypedV1 } from '@standard-schema/spec'
import { DefinitionError } from '@x/exchange'
import type { AnySchema, CompiledSchema } from '../json-schema/compile-schema.ts'

type FormCompiler = (schema: AnySchema) => CompiledSchema

/**
 * Compiles a schema. If a property cannot be converted to JSON Schema, such as a date, the error contains the name of
 * the property. The error of zod itself has only the type.
 */
export function compileFormSchema(schema: AnySchema, compile: FormCompiler): CompiledSchema {
  try {
    return compile(schema)
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    const name = readZodProperties(schema).find(([, property]) => isUncompilable(property, compile))?.[0]
    if (name === undefined) throw error
    // The advice for arguments would be a second one in the same sentence.
    const [problem = ''] = error.message.slice(`${error.subject}: `.length).split('; describe its JSON form')
    const reason = `property ${JSON.stringify(name)}: ${problem}; ask for a string, and turn it into what the handler needs with transform()`
    throw new DefinitionError('schema', error.subject, { reason, cause: error.cause })
  }
}

/** Returns the properties of an object schema of zod, which stores them under `shape`. */
function readZodProperties(schema: object): [string, unknown][] {
  const hasShape = 'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
  return hasShape ? Object.entries(schema.shape ?? {}) : []
}

function isUncompilable(property: unknown, compile: FormCompiler): boolean {
  if (!isStandardSchema(property)) return false
  try {
    compile(property)
    return false
  } catch {
    return true
  }
}

function isStandardSchema(property: unknown): property is StandardTypedV1 {
  return typeof property === 'object' && property !== null && '~standard' in property
}
