import type { JsonObject, JsonValue } from '@x/core'
import { type AssembledSchema, createAssembler } from '../document/assemble-schema.ts'
import { cleanText, textLimits } from '../document/clean-text.ts'
import { isOpenApiError, refuseOperation } from '../document/open-api-error.ts'
import {
  baseTypeOf,
  type DocumentOperation,
  followReferences,
  isJsonType,
  listOf,
  listOperations,
  objectOf,
  openDocument,
} from '../document/open-document.ts'
import type { OpenApiOperation, OpenApiSettings } from './options.ts'
import { type BodyPlan, planBody } from './plan-body.ts'
import { listFixedNames, type ParameterPlan, planParameters } from './plan-parameter.ts'

/** How a call of a tool becomes a request. */
export interface OperationPlan {
  readonly operation: OpenApiOperation
  readonly description: string
  readonly parameters: readonly ParameterPlan[]
  readonly body: BodyPlan | undefined
  readonly input: AssembledSchema
  readonly output: JsonObject | undefined
  /** What the document says about the credential: the names of its schemes, with their scopes. */
  readonly security: readonly string[]
}

/** The plan of an operation, or the reason why it cannot be a tool. */
export type PlanOutcome = { readonly operation: OpenApiOperation } & (
  | { readonly plan: OperationPlan; readonly refused?: undefined }
  | { readonly plan?: undefined; readonly refused: string }
)

/** In the order of the document. */
export function planDocument(
  root: JsonObject,
  settings: OpenApiSettings,
  isSelected: (operation: OpenApiOperation) => boolean | string,
): readonly PlanOutcome[] {
  const document = openDocument(root)
  const plan = createPlanner(document, settings)
  return listOperations(document).flatMap((source): readonly PlanOutcome[] => {
    const operation = readOperation(source)
    const selected = isSelected(operation)
    if (selected === false) return []
    if (typeof selected === 'string') return [{ operation, refused: selected }]
    try {
      return [{ operation, plan: plan(source, operation) }]
    } catch (error) {
      if (!isOpenApiError(error)) throw error
      return [{ operation, refused: error.message }]
    }
  })
}

function readOperation({ method, path, operation }: DocumentOperation): OpenApiOperation {
  const { operationId, summary, tags, deprecated } = operation
  return {
    method,
    path,
    operationId: typeof operationId === 'string' && operationId !== '' ? operationId : undefined,
    summary: cleanText(summary, textLimits.title),
    tags: listOf(tags).filter((tag) => typeof tag === 'string'),
    isDeprecated: deprecated === true,
  }
}

const allowedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'])

function createPlanner(document: DocumentOperation['document'], settings: OpenApiSettings) {
  const fixed = listFixedNames(document, settings)
  const assembleInput = createAssembler({ document, side: 'input' }, settings.maxSchemaCharacters)
  const assembleOutput = createAssembler({ document, side: 'output' }, settings.maxSchemaCharacters)
  return (source: DocumentOperation, operation: OpenApiOperation): OperationPlan => {
    checkOperation(source)
    const body = planBody(source)
    const parameters = planParameters(source, fixed, body && 'body')
    const output = settings.output?.(operation) === true ? findResponseSchema(source) : undefined
    return {
      operation,
      description: describeTool(source, operation),
      parameters,
      body,
      input: assembleInput(createInput(parameters, body)),
      output: output && assembleOutput(output).schema,
      security: describeSecurity(source),
    }
  }
}

function checkOperation({ problem, method, path, pathItem, operation }: DocumentOperation): void {
  if (problem !== undefined) refuseOperation(problem)
  if (!allowedMethods.has(method)) refuseOperation(`has the method ${method}`)
  if (/[#?\\]|\/\.{1,2}(?:\/|$)/.test(path))
    refuseOperation('its path has a segment "." or "..", or one of "#", "?" and "\\"')
  if (listOf(operation['servers'] ?? pathItem['servers']).length > 0)
    refuseOperation('has servers of its own, and every request goes to the address of the option url')
}

function createInput(parameters: readonly ParameterPlan[], body: BodyPlan | undefined): JsonObject {
  const properties = parameters.map(({ argument, schema }): [string, JsonValue] => [argument, schema])
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument)
  if (body !== undefined) properties.push(['body', body.schema])
  if (body?.isRequired === true) required.push('body')
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}

/** Models choose tools by their descriptions, so there must be one. */
function describeTool({ operation }: DocumentOperation, { method, path, summary }: OpenApiOperation): string {
  const description = cleanText(operation['description'], textLimits.description)
  const rest = summary !== '' && description.startsWith(summary) ? description.slice(summary.length) : description
  return `${summary}\n\n${rest}`.trim() || `${method} ${cleanText(path, textLimits.title)}`
}

function findResponseSchema({ document, operation }: DocumentOperation): JsonObject | undefined {
  const responses = new Map(Object.entries(objectOf(operation['responses'])))
  const status = ['200', '201', '202', '203', '2XX'].find((each) => responses.has(each))
  if (status === undefined) return undefined
  const { schema, content } = followReferences(document, responses.get(status))
  if (document.version === '2.0') return schema === undefined ? undefined : objectOf(schema)
  const [, json] = Object.entries(objectOf(content)).find(([type]) => isJsonType(baseTypeOf(type))) ?? []
  const { schema: ofMedia } = objectOf(json)
  return ofMedia === undefined ? undefined : objectOf(ofMedia)
}

function describeSecurity({ document, operation }: DocumentOperation): readonly string[] {
  return listOf(operation['security'] ?? document.root['security']).flatMap((requirement) =>
    Object.entries(objectOf(requirement)).map(([scheme, scopes]) => [scheme, ...listOf(scopes).map(String)].join(' ')),
  )
}
