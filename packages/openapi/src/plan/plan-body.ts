import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { cleanText, textLimits } from '../document/clean-text.ts'
import { refuseOperation } from '../document/open-api-error.ts'
import {
  baseTypeOf,
  type DocumentOperation,
  followReferences,
  isReading,
  listOf,
  objectOf,
} from '../document/open-document.ts'
import type { OpenApiDocument } from '../document/open-document.ts'
import { listParameters, type ParameterPlan, planStyle } from './plan-parameter.ts'

/** How a property of a form is written. */
export type FieldPlan = Pick<ParameterPlan, 'style' | 'explode'> | 'binary'

/** The argument `body` of a tool. */
export interface BodyPlan {
  readonly kind: 'json' | 'urlencoded' | 'multipart' | 'text'
  /** Header `content-type`. */
  readonly mediaType: string
  readonly isRequired: boolean
  readonly schema: JsonValue
  /** Properties of a form that are not written in the default way. */
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

/** Ends the planning of an operation that requires a body which cannot be sent. */
export function planBody(source: DocumentOperation): BodyPlan | undefined {
  const { document, operation } = source
  const declared = document.version === '2.0' ? upgradeBody(source) : operation['requestBody']
  if (declared === undefined) return undefined
  const { content, required, description } = followReferences(document, declared)
  const media = new Map(Object.entries(objectOf(content)).map(([type, value]) => [baseTypeOf(type), value]))
  const types = [...media.keys()]
  const chosen = isReading(source) ? undefined : chooseKind(types)
  const isRequired = required === true
  if (chosen === undefined) return isRequired ? refuseBody(source, types) : undefined
  const { schema = {}, encoding } = followReferences(document, media.get(chosen.key))
  const fields = findFields(document, schema, objectOf(encoding))
  return { ...chosen, isRequired, schema: describeBody(schema, description), fields }
}

function refuseBody({ method }: DocumentOperation, types: readonly string[]): undefined {
  if (isReading({ method })) refuseOperation(`requires a body, and a ${method} request has none`)
  if (types.length > 0) refuseOperation(`its body has the type ${types.slice(0, 5).join(', ')}`)
}

function chooseKind(types: readonly string[]): (Pick<BodyPlan, 'kind' | 'mediaType'> & { key: string }) | undefined {
  for (const [pattern, kind, mediaType] of kinds) {
    const key = types.find((type) => pattern.test(type))
    if (key !== undefined) return { kind, key, mediaType: mediaType ?? key }
  }
  return undefined
}

function describeBody(schema: JsonValue, description: JsonValue | undefined): JsonValue {
  const text = cleanText(description, textLimits.parameter)
  return isJsonObject(schema) && text !== '' ? { ...schema, description: text } : schema
}

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

/** Makes the body of 3.0 of the parameters of 2.0 that are a body, or fields of one. */
function upgradeBody(source: DocumentOperation): JsonObject | undefined {
  const parameters = listParameters(source)
  const types = listOf(source.operation['consumes'] ?? source.document.root['consumes']).map(String)
  const body = parameters.find(({ in: place }) => place === 'body')
  if (body !== undefined) {
    const content = (types.length === 0 ? ['application/json'] : types).map((type) => [type, body])
    return { ...body, content: Object.fromEntries(content) }
  }
  const fields = parameters.filter(({ in: place }) => place === 'formData')
  if (fields.length === 0) return undefined
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]))
  const required = fields.filter((field) => field['required'] === true).map(({ name }) => name)
  const isMultipart = types.includes('multipart/form-data') || fields.some(({ type }) => type === 'file')
  const encoding = Object.fromEntries(fields.map((field) => [field.name, field]))
  const media = { schema: { type: 'object', properties, required }, encoding }
  const mediaType = isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  return { required: required.length > 0, content: { [mediaType]: media } }
}
