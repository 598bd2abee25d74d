import { isJsonObject, type JsonObject, projectMetaKeys, type HeaderParam, headerParams } from '@x/schema'
import type { CompiledTool } from './catalog.ts'
import { type CompileContext, checkMaxElements, compileEntry } from './compile-entry.ts'
import { DefinitionError } from '../request/definition-error.ts'
import { compileSchema } from '../json-schema/compile-schema.ts'
import type { AnyToolDefinition, Tool } from '../definitions/tool.ts'

/** The specification's recommendation for a tool without parameters (server/tools, tool). */
const noArguments = Object.freeze({ type: 'object', additionalProperties: false })

/** Makes a tool ready to be called. Throws {@link DefinitionError}. */
export function compileTool(
  { name, definition }: Tool,
  { compileSchema: compile, maxElements, warn }: CompileContext,
): CompiledTool {
  const subject = `tool ${JSON.stringify(name)}`
  checkToolName(name, subject, warn)
  if (typeof definition.description !== 'string' || definition.description === '') {
    throw new DefinitionError('value', subject, { reason: 'has no description; models choose tools by it' })
  }
  const maxElementCount = checkMaxElements(definition.maxArgumentElements, subject) ?? maxElements
  const schemaOptions = { subject: `${subject}, input`, side: 'input', compile, maxElements: maxElementCount } as const
  const input = compileSchema(definition.input ?? noArguments, schemaOptions)
  const output =
    definition.output && compileSchema(definition.output, { subject: `${subject}, output`, side: 'output', compile })
  const inputJson = withObjectRoot(input.json, `${subject}, input`)
  const toolHeaderParams = headerParamsOf(inputJson, subject)
  const entry = compileEntry(
    wireToolOf({ name, definition, input: inputJson, output: output?.json }),
    definition,
    subject,
  )
  return {
    ...entry,
    key: name,
    checkInput: input.check,
    checkOutput: output?.check,
    headerParams: toolHeaderParams,
    definition,
  }
}

/** Warns of a name that other hosts may not take: its form is only recommended (server/tools, tool names). */
function checkToolName(name: string, subject: string, warn: CompileContext['warn']): void {
  if (typeof name !== 'string' || name === '' || name.length > 1000) {
    throw new DefinitionError('name', subject, { reason: 'its name must be a string of 1 to 1000 characters' })
  }
  if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return
  const message = `The name of ${subject} should be 1 to 128 letters, digits, "_", "-" and "."; some hosts reject others`
  warn({ code: 'name', message, where: { method: 'tools/call', name } })
}

/**
 * Returns true for a tool that does nothing twice. A repeated creation is answered with the same task, before the
 * handler runs.
 */
export function hasKeyedEffects({ definition: { keyedEffects, task } }: Pick<Tool, 'definition'>): boolean {
  return keyedEffects ?? task === 'required'
}

/** The extension that a server declares which has such tools (docs/guides/idempotent-calls). */
export const idempotentCallsExtension = 'dev.x/idempotent-calls'

function wireToolOf(wireSource: {
  name: string
  definition: AnyToolDefinition
  input: JsonObject
  output: JsonObject | undefined
}): object {
  const { title, description, annotations, icons, meta } = wireSource.definition
  const _meta = hasKeyedEffects(wireSource) ? { ...meta, [projectMetaKeys.keyedEffects]: true } : meta
  const schemas = { inputSchema: wireSource.input, outputSchema: wireSource.output }
  return { name: wireSource.name, title, description, ...schemas, annotations, icons, _meta }
}

/** Returns the schema of a tool's arguments, with the root type that unions of objects lack (server/tools, tool). */
function withObjectRoot(json: JsonObject, subject: string): JsonObject {
  const isUnion = json['type'] === undefined && ('anyOf' in json || 'oneOf' in json)
  return requireObjectRoot(isUnion && acceptsObjects(json) ? { type: 'object', ...json } : json, subject)
}

/** Returns whether every alternative of a schema may be an object: others could never be chosen. */
function acceptsObjects(json: JsonObject): boolean {
  const alternatives = [json['anyOf'], json['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []))
  const allowsObjectType = json['type'] === undefined || json['type'] === 'object'
  return (
    allowsObjectType && alternatives.every((alternative) => isJsonObject(alternative) && acceptsObjects(alternative))
  )
}

/** Arguments are always an object, and the schema must say so (server/tools, tool). */
export function requireObjectRoot(json: JsonObject, subject: string): JsonObject {
  if (json['type'] === 'object') return json
  const reason =
    'the root of the JSON Schema must have "type": "object" or be a union of such schemas; put other values in a property'
  throw new DefinitionError('schema', subject, { reason })
}

function headerParamsOf(json: JsonObject, subject: string): readonly HeaderParam[] {
  const headerParamsResult = headerParams(json)
  if ('reason' in headerParamsResult)
    throw new DefinitionError('header', subject, { reason: headerParamsResult.reason })
  return headerParamsResult.params
}
