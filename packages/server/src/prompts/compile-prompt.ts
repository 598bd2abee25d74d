import { isJsonObject, type JsonObject, type PromptArgument } from '@x/schema'
import type { CompiledPrompt } from '../catalog.ts'
import { type Compiling, compileCompleters, compileEntry, memberEntries } from '../compile-entry.ts'
import { objectRooted } from '../tools/compile-tool.ts'
import { DefinitionError } from '../definition-error.ts'
import type { Prompt } from './prompt.ts'
import { compileSchema } from '../json-schema/schemas.ts'

const noArguments = Object.freeze({ type: 'object', additionalProperties: false })

/** Makes a prompt ready to be filled in. Throws {@link DefinitionError}. */
export function compilePrompt(
  { name, definition }: Prompt,
  { compileSchema: compile, maxElements }: Compiling,
): CompiledPrompt {
  const subject = `prompt ${JSON.stringify(name)}`
  if (typeof name !== 'string' || name === '' || name.length > 128) {
    throw new DefinitionError('name', subject, { reason: 'its name must have 1 to 128 characters' })
  }
  const inputSubject = `${subject}, input`
  const use = { subject: inputSubject, side: 'input', compile, maxElements } as const
  const input = compileSchema(definition.input ?? noArguments, use)
  const list = argumentsOf(objectRooted(input.json, inputSubject), inputSubject)
  const { title, description, icons, meta } = definition
  const wire = { name, title, description, arguments: list.length > 0 ? list : undefined, icons, _meta: meta }
  return {
    ...compileEntry(wire, definition, subject),
    key: name,
    input: input.check,
    required: list.filter(({ required }) => required).map((argument) => argument.name),
    completers: compileCompleters(
      list.map((argument) => argument.name),
      definition.complete,
      subject,
    ),
    definition,
  }
}

/** The arguments that a schema describes; on the wire each of them is a string (server/prompts, getting a prompt). */
function argumentsOf(json: JsonObject, subject: string): readonly PromptArgument[] {
  const required = Array.isArray(json['required']) ? json['required'] : []
  return memberEntries(json['properties']).map(([name, schema]) => {
    const described = isJsonObject(schema) ? schema : {}
    const type = described['type']
    if (type !== undefined && type !== 'string' && !(Array.isArray(type) && type.includes('string'))) {
      const reason =
        `the argument ${JSON.stringify(name)} is a ${JSON.stringify(type)}, but arguments of prompts are strings; ` +
        'take a string and transform it'
      throw new DefinitionError('schema', subject, { reason })
    }
    return {
      name,
      ...(typeof described['title'] === 'string' && { title: described['title'] }),
      ...(typeof described['description'] === 'string' && { description: described['description'] }),
      ...(required.includes(name) && { required: true }),
    }
  })
}
