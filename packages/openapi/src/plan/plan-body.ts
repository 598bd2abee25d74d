import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { cleanText, textLimits } from '../document/clean-text.ts'
import { refuseOperation } from '../document/open-api-error.ts'
import {
  type DocumentOperation,
  followReferences,
  listOf,
  objectOf,
  type OpenApiDocument,
} from '../document/open-document.ts'
import { listParameters, type ParameterPlan, planCollection, planStyle } from './plan-parameter.ts'

/** How a property of a form is written. */
export type FieldPlan = Pick<ParameterPlan, 'style' | 'explode'> | 'binary'

/** The body of an operation, which is the argument `body` of its tool. */
export interface BodyPlan {
  readonly kind: 'json' | 'urlencoded' | 'multipart' | 'text'
  /** The header `content-type`. */
  readonly mediaType: string
  readonly isRequired: boolean
  readonly schema: JsonValue
  /** The properties of a form that are not written in the default way. */
  readonly fields: ReadonlyMap<string, FieldPlan>
}

const kinds: readonly (readonly [pattern: RegExp, kind: BodyPlan['kind'], mediaType?: string])[] = [
  [/^application\/json$/, 'json'],
  [/^application\/merge-patch\+json$/, 'json'],
  [/\+json$/, 'json'],
  [/^(?:\*|application)\/\*$/, 'json', 'application/json'],
  [/^application\/x-www-form-urlencoded$/, 'urlencoded'],
  [/^multipart\/form-data$/, 'multipart'],
  [/^text\/plain$/, 'text'],
]

/** Plans the body of an operation. Ends the planning of one that requires a body that cannot be sent. */
export function planBody(document: OpenApiDocument, source: DocumentOperation): BodyPlan | undefined {
  const body = document.version === '2.0' ? planOlderBody(document, source) : planRequestBody(document, source)
  if (body === undefined || !['GET', 'HEAD'].includes(source.method)) return body
  return body.isRequired ? refuseOperation(`requires a body, and a ${source.method} request has none`) : undefined
}

function planRequestBody(document: OpenApiDocument, { operation }: DocumentOperation): BodyPlan | undefined {
  if (operation['requestBody'] === undefined) return undefined
  const { content, required, description } = followReferences(document, operation['requestBody'])
  const media = new Map(Object.entries(objectOf(content)).map(([type, value]) => [baseTypeOf(type), value]))
  if (media.size === 0) return undefined
  const isRequired = required === true
  const chosen = chooseKind([...media.keys()])
  if (chosen === undefined) return leaveOut(isRequired, [...media.keys()])
  const { schema = {}, encoding } = followReferences(document, media.get(chosen.key))
  const fields = findFields(document, schema, objectOf(encoding))
  return { ...chosen, isRequired, schema: describeBody(schema, description), fields }
}

function baseTypeOf(mediaType: string): string {
  return mediaType.split(';', 1).join().trim().toLowerCase()
}

function chooseKind(types: readonly string[]): (Pick<BodyPlan, 'kind' | 'mediaType'> & { key: string }) | undefined {
  for (const [pattern, kind, mediaType] of kinds) {
    const key = types.find((type) => pattern.test(type))
    if (key !== undefined) return { kind, key, mediaType: mediaType ?? key }
  }
  return undefined
}

function leaveOut(isRequired: boolean, types: readonly string[]): undefined {
  return isRequired ? refuseOperation(`its body has the type ${types.slice(0, 5).join(', ')}`) : undefined
}

function describeBody(schema: JsonValue, description: JsonValue | undefined): JsonValue {
  const text = cleanText(description, textLimits.parameter)
  return isJsonObject(schema) && text !== '' ? { ...schema, description: text } : schema
}

/** Finds the files of a form, and the properties whose `encoding` has a style. */
function findFields(document: OpenApiDocument, schema: JsonValue, encoding: JsonObject): BodyPlan['fields'] {
  const { properties } = isJsonObject(schema) ? followReferences(document, schema) : {}
  const fields = new Map<string, FieldPlan>()
  for (const [name, value] of Object.entries(objectOf(properties))) {
    if (!isJsonObject(value)) continue
    const property = followReferences(document, value)
    const each = isJsonObject(property['items']) ? followReferences(document, property['items']) : property
    const style = objectOf(Object.hasOwn(encoding, name) ? encoding[name] : undefined)
    if (isBinary(each)) fields.set(name, 'binary')
    else if (style['style'] !== undefined || style['explode'] !== undefined)
      fields.set(name, planStyle({ name, ...style }, 'query'))
  }
  return fields
}

/** In 3.1, a file has a media type and no `type`. */
function isBinary({ type, format, contentMediaType }: JsonObject): boolean {
  return format === 'binary' || type === 'file' || (type === undefined && typeof contentMediaType === 'string')
}

/** Plans the body of 2.0: a parameter in `body`, or those in `formData`. */
function planOlderBody(document: OpenApiDocument, source: DocumentOperation): BodyPlan | undefined {
  const parameters = listParameters(document, source)
  const types = listOf(source.operation['consumes'] ?? document.root['consumes']).map((type) =>
    baseTypeOf(String(type)),
  )
  const body = parameters.find(({ parameter }) => parameter['in'] === 'body')
  if (body !== undefined) return planOlderJson(body.parameter, types)
  const fields = parameters.filter(({ parameter }) => parameter['in'] === 'formData')
  return fields.length === 0 ? undefined : planForm(fields, types)
}

function planOlderJson(
  { schema = {}, required, description }: JsonObject,
  types: readonly string[],
): BodyPlan | undefined {
  const isRequired = required === true
  const chosen = chooseKind(types.length === 0 ? ['application/json'] : types)
  if (chosen === undefined) return leaveOut(isRequired, types)
  return { ...chosen, isRequired, schema: describeBody(schema, description), fields: new Map() }
}

function planForm(parameters: ReturnType<typeof listParameters>, types: readonly string[]): BodyPlan {
  const isMultipart =
    types.includes('multipart/form-data') || parameters.some(({ parameter }) => parameter['type'] === 'file')
  const fields = parameters.map(({ name, parameter }): [string, FieldPlan] => [
    name,
    parameter['type'] === 'file' ? 'binary' : planCollection(parameter, 'query'),
  ])
  const required = parameters.filter(({ parameter }) => parameter['required'] === true).map(({ name }) => name)
  const properties = parameters.map(({ name, parameter }) => [name, { ...parameter, required: undefined }])
  return {
    kind: isMultipart ? 'multipart' : 'urlencoded',
    mediaType: isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded',
    isRequired: required.length > 0,
    schema: { type: 'object', properties: Object.fromEntries(properties), required },
    fields: new Map(fields),
  }
}
