import { type JsonObject, metaNames, type MirroredParam, mirroredParams } from '@x/schema'
import type { CompiledTool } from '../catalog.ts'
import { type Compiling, elementBound, compileEntry } from '../compile-entry.ts'
import { DefinitionError } from '../definition-error.ts'
import { type CompiledSchema, compileSchema } from '../json-schema/schemas.ts'
import type { AnyToolDefinition, Tool } from './tool.ts'

/** The specification's recommendation for a tool without parameters (server/tools, tool). */
const noArguments = Object.freeze({ type: 'object', additionalProperties: false })

/** Makes a tool ready to be called. Throws {@link DefinitionError}. */
export function compileTool(
  { name, definition }: Tool,
  { compileSchema: compile, maxElements }: Compiling,
): CompiledTool {
  const subject = `tool ${JSON.stringify(name)}`
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    const reason = 'its name must be 1 to 128 letters, digits, "_", "-" and "."'
    throw new DefinitionError('name', subject, { reason })
  }
  if (typeof definition.description !== 'string' || definition.description === '') {
    throw new DefinitionError('value', subject, { reason: 'has no description; models choose tools by it' })
  }
  const most = elementBound(definition.maxArgumentElements, subject) ?? maxElements
  const use = { subject: `${subject}, input`, side: 'input', compile, maxElements: most } as const
  const input = compileSchema(definition.input ?? noArguments, use)
  const output =
    definition.output && compileSchema(definition.output, { subject: `${subject}, output`, side: 'output', compile })
  const mirrored = mirroredOf(objectRooted(input.json, `${subject}, input`), subject)
  const entry = compileEntry(wireOf({ name, definition, input, output }), definition, subject)
  return { ...entry, key: name, input: input.check, output: output?.check, mirrored, definition }
}

/**
 * Returns true for a tool that does nothing twice. A repeated creation is answered with the same task, before the
 * handler runs.
 */
export function hasKeyedEffects({ definition: { keyedEffects, task } }: Pick<Tool, 'definition'>): boolean {
  return keyedEffects ?? task === 'required'
}

/** The extension that a server declares which has such tools (docs/guides/idempotent-calls). */
export const idempotentCalls = 'dev.x/idempotent-calls'

function wireOf(parts: {
  name: string
  definition: AnyToolDefinition
  input: CompiledSchema
  output: CompiledSchema | undefined
}): object {
  const { title, description, annotations, icons, meta } = parts.definition
  const _meta = hasKeyedEffects(parts) ? { ...meta, [metaNames.keyedEffects]: true } : meta
  const schemas = { inputSchema: parts.input.json, outputSchema: parts.output?.json }
  return { name: parts.name, title, description, ...schemas, annotations, icons, _meta }
}

/** Arguments are always an object, and the schema must say so (server/tools, tool). */
export function objectRooted(json: JsonObject, subject: string): JsonObject {
  if (json['type'] === 'object') return json
  const reason = 'the root of the JSON Schema must have "type": "object"; put other values in a property of an object'
  throw new DefinitionError('schema', subject, { reason })
}

function mirroredOf(json: JsonObject, subject: string): readonly MirroredParam[] {
  const found = mirroredParams(json)
  if ('reason' in found) throw new DefinitionError('header', subject, { reason: found.reason })
  return found.params
}
