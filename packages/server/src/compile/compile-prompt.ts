import { DefinitionError } from '@x/exchange'
import { isJsonObject, type JsonObject, type JsonSchemaCompiler, type PromptArgument } from '@x/schema'
import { resolveReference } from '@x/schema/internal'
import type { CompiledPrompt } from './catalog.ts'
import { compileCompleters, compileEntry, memberEntries, requireObjectInput } from './compile-entry.ts'
import { promptMembers, toListedMembers } from './listed-members.ts'
import { withSentence } from './compile-tool.ts'
import type { Prompt } from '../definitions/prompt.ts'
import { type AnySchema, compileInput } from '../json-schema/compile-schema.ts'
import { createSchemaRules } from '../json-schema/compile-validator.ts'
import { isZodSchema, type ZodSchema } from '../json-schema/zod-schema.ts'

/** `compile` replaces the default validator. Throws {@link DefinitionError}. */
export function compilePrompt({ name, definition }: Prompt, compile: JsonSchemaCompiler | undefined): CompiledPrompt {
  const errorSubject = `prompt ${JSON.stringify(name)}`
  if (typeof name !== 'string' || name === '' || name.length > 128) {
    throw new DefinitionError('name', errorSubject, { reason: 'its name must have 1 to 128 characters' })
  }
  const inputSubject = `${errorSubject}, input`
  const schemaOptions = { errorSubject: inputSubject, side: 'input', rules: createSchemaRules(compile) } as const
  const compiledInput = compileInput(definition.input, schemaOptions)
  const { jsonSchema, alternatives } = requireObjectInput(compiledInput.jsonSchema, inputSubject)
  const promptArguments = readPromptArguments(jsonSchema, definition.input, inputSubject)
  const description = withSentence(definition.description, alternatives)
  const wireEntry = {
    name,
    ...toListedMembers({ ...definition, description }, promptMembers),
    arguments: promptArguments.length > 0 ? promptArguments : undefined,
  }
  return {
    ...compileEntry(wireEntry, definition, errorSubject),
    key: name,
    checkArguments: compiledInput.check,
    requiredArguments: promptArguments.filter(({ required }) => required).map((argument) => argument.name),
    completers: compileCompleters(
      promptArguments.map((argument) => argument.name),
      definition.complete,
      errorSubject,
    ),
    definition,
  }
}

/**
 * Reads the arguments from a schema. Throws for one that does not accept a string, because clients send each argument
 * as a string (server/prompts, getting a prompt).
 */
function readPromptArguments(
  jsonSchema: JsonObject,
  schema: AnySchema | undefined,
  errorSubject: string,
): readonly PromptArgument[] {
  const requiredNames = Array.isArray(jsonSchema['required']) ? jsonSchema['required'] : []
  return memberEntries(jsonSchema['properties']).map(([name, property]) => {
    const propertySchema = isJsonObject(property) ? (resolveReference(property, jsonSchema) ?? property) : {}
    if (!acceptsText(propertySchema, schema, name)) {
      const reason =
        `the argument ${JSON.stringify(name)} is a ${JSON.stringify(propertySchema['type'])}, but arguments of prompts are ` +
        'strings; write z.coerce.number(), z.stringbool() or z.string().transform(…)'
      throw new DefinitionError('schema', errorSubject, { reason })
    }
    return {
      name,
      ...(typeof propertySchema['title'] === 'string' && { title: propertySchema['title'] }),
      ...(typeof propertySchema['description'] === 'string' && { description: propertySchema['description'] }),
      ...(requiredNames.includes(name) && { required: true }),
    }
  })
}

function acceptsText({ type }: JsonObject, schema: AnySchema | undefined, name: string): boolean {
  if (type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'))) return true
  // `z.coerce.boolean()` is rejected: it turns every text except the empty one into true, even "false".
  return type !== 'boolean' && isZodSchema(schema) && isCoerced(schema._zod.def.shape?.[name])
}

/** True if zod converts the argument's text (`z.coerce`), which its JSON Schema does not show. */
function isCoerced(schema: ZodSchema | undefined): boolean {
  if (schema === undefined) return false
  const { coerce, innerType, in: input } = schema._zod.def
  return coerce === true || isCoerced(innerType ?? input)
}
