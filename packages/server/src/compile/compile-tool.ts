import { checkedNumber } from '@x/core'
import { DefinitionError } from '@x/exchange'
import {
  type HeaderParam,
  type JsonObject,
  type JsonSchemaCompiler,
  parseHeaderParams,
  projectMetaKeys,
} from '@x/schema'
import { withoutRootReference } from '@x/schema/internal'
import type { CompiledTool } from './catalog.ts'
import { toListedMembers, toolMembers } from './listed-members.ts'
import { compileEntry, requireObjectInput } from './compile-entry.ts'
import { compileInput, compileSchema } from '../json-schema/compile-schema.ts'
import { createSchemaRules } from '../json-schema/compile-validator.ts'
import type { Tool } from '../definitions/tool.ts'

/** `compile` replaces the default validator. Throws {@link DefinitionError}. */
export function compileTool({ name, definition }: Tool, compile: JsonSchemaCompiler | undefined): CompiledTool {
  const errorSubject = `tool ${JSON.stringify(name)}`
  checkToolName(name, errorSubject)
  if (typeof definition.description !== 'string' || definition.description === '') {
    throw new DefinitionError('value', errorSubject, { reason: 'has no description; models choose tools by it' })
  }
  const { maxArgumentElements: maxElements } = definition
  if (maxElements !== undefined) checkedNumber(`${errorSubject}: maxArgumentElements`, maxElements)
  const rules = createSchemaRules(compile)
  const schemaOptions = {
    errorSubject: `${errorSubject}, input`,
    side: 'input',
    rules,
    maxElements,
  } as const
  const compiledInput = compileInput(definition.input, schemaOptions)
  const compiledOutput =
    definition.output &&
    compileSchema(definition.output, { errorSubject: `${errorSubject}, output`, side: 'output', rules })
  const { jsonSchema: inputSchema, alternatives } = requireObjectInput(
    compiledInput.jsonSchema,
    `${errorSubject}, input`,
  )
  const toolHeaderParams = parseToolHeaders(inputSchema, errorSubject)
  const outputSchema = compiledOutput && withoutRootReference(compiledOutput.jsonSchema)
  const description = withSentence(definition.description, alternatives)
  const meta = hasKeyedEffects({ definition })
    ? { ...definition.meta, [projectMetaKeys.keyedEffects]: true }
    : definition.meta
  const listed = toListedMembers({ ...definition, description, meta }, toolMembers)
  return {
    ...compileEntry({ name, ...listed, inputSchema, outputSchema }, definition, errorSubject),
    key: name,
    checkInput: compiledInput.check,
    checkOutput: compiledOutput?.check,
    headerParams: toolHeaderParams,
    inputSchema,
    definition,
  }
}

function checkToolName(name: string, errorSubject: string): void {
  if (typeof name === 'string' && name !== '' && name.length <= 1000) return
  throw new DefinitionError('name', errorSubject, { reason: 'its name must be a string of 1 to 1000 characters' })
}

/**
 * True for a tool whose effects happen only once if a call with an idempotency key is sent again. A tool that always
 * runs as a task is one by default, because a repeated call is answered with the same task.
 */
export function hasKeyedEffects({ definition: { keyedEffects, task } }: Pick<Tool, 'definition'>): boolean {
  return keyedEffects ?? task === 'required'
}

/** Declared by a server if one of its tools has keyed effects (docs/guides/idempotent-calls). */
export const idempotentCallsExtension = 'dev.x/idempotent-calls'

/** Appends a sentence as a paragraph of its own to a description, which hosts show to models. */
export function withSentence(description: string, sentence: string | undefined): string
export function withSentence(description: string | undefined, sentence: string | undefined): string | undefined
export function withSentence(description: string | undefined, sentence: string | undefined): string | undefined {
  return description === undefined || sentence === undefined
    ? (description ?? sentence)
    : `${description}\n\n${sentence}`
}

function parseToolHeaders(jsonSchema: JsonObject, errorSubject: string): readonly HeaderParam[] {
  const headerParamsResult = parseHeaderParams(jsonSchema)
  if ('reason' in headerParamsResult)
    throw new DefinitionError('header', errorSubject, { reason: headerParamsResult.reason })
  return headerParamsResult.params
}
