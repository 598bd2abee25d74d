import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { isModelPropertyName } from '@x/schema/internal'
import { cleanText, textLimits } from '../document/clean-text.ts'
import { refuseOperation } from '../document/open-api-error.ts'
import { type DocumentOperation, followReferences, listOf, objectOf } from '../document/open-document.ts'
import type { OpenApiDocument } from '../document/open-document.ts'
import type { OpenApiSettings } from './options.ts'

/** How the value of a parameter is written: a style of OpenAPI, or JSON. */
export type ParameterStyle =
  | 'simple'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'tabDelimited'
  | 'deepObject'
  | 'json'

/** A parameter that is an argument of the tool. */
export interface ParameterPlan {
  /** Name of the argument. Models refuse some names of parameters. */
  readonly argument: string
  readonly name: string
  readonly place: 'path' | 'query' | 'header'
  readonly style: ParameterStyle
  readonly explode: boolean
  readonly isRequired: boolean
  readonly schema: JsonValue
}

/** Headers of the connection, and those by which servers and proxies decide where a request is from. */
const forbiddenHeaders =
  /^(?:host|cookie|forwarded|x-forwarded-.*|connection|keep-alive|content-length|expect|te|trailer|transfer-encoding|upgrade|via|proxy-.*|mcp-.*|sec-.*)$/

const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Lists what is sent and never an argument, such as `header authorization`: what the author fixes, what the credential
 * or the client of the API writes, and the keys of the document. All in lower case.
 */
export function listFixedNames({ root }: OpenApiDocument, settings: OpenApiSettings): ReadonlySet<string> {
  const { headers = {}, query = {}, idempotencyHeader = '' } = settings
  const sent = ['authorization', 'accept', 'content-type', idempotencyHeader, ...Object.keys(headers)]
  const schemes = Object.values({
    ...objectOf(root['securityDefinitions']),
    ...objectOf(objectOf(root['components'])['securitySchemes']),
  }).map(objectOf)
  const keys = schemes.filter(({ type }) => type === 'apiKey').map(({ in: place, name }) => `${place} ${name}`)
  const names = [...sent.map((name) => `header ${name}`), ...Object.keys(query).map((name) => `query ${name}`), ...keys]
  return new Set(names.map((name) => name.toLowerCase()))
}

/** Those arguments of an operation that are parameters. `reserved` is the argument of the body, if there is one. */
export function planParameters(
  source: DocumentOperation,
  fixed: ReadonlySet<string>,
  reserved: string | undefined,
): readonly ParameterPlan[] {
  const pathNames = new Set(Array.from(source.path.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name))
  const taken = new Set(reserved === undefined ? [] : [reserved])
  const plans = listParameters(source).flatMap((parameter): ParameterPlan[] => {
    const { name } = parameter
    if (fixed.has(`${String(parameter['in'])} ${name}`.toLowerCase())) return []
    const place = findPlace(parameter, name)
    if (place === undefined || (place === 'path' && !pathNames.delete(name))) return []
    const argument = nameArgument(name, place, taken)
    taken.add(argument)
    const isRequired = place === 'path' || parameter['required'] === true
    return [{ argument, name, place, isRequired, ...planValue(source, parameter, place) }]
  })
  for (const name of pathNames) refuseOperation(`its path has {${name}}, and no parameter of this name`)
  return plans
}

function findPlace({ in: place, required }: JsonObject, name: string): ParameterPlan['place'] | undefined {
  const isForbidden = place === 'header' && (forbiddenHeaders.test(name.toLowerCase()) || !headerName.test(name))
  if (place === 'cookie' || isForbidden)
    return required === true ? refuseOperation(`requires the ${place} ${JSON.stringify(name)}`) : undefined
  const known = (['path', 'query', 'header'] as const).find((each) => each === place)
  if (known !== undefined || place === 'body' || place === 'formData') return known
  return refuseOperation(`the parameter ${JSON.stringify(name)} is in ${JSON.stringify(place ?? null)}`)
}

/** Parameters of the path that the operation does not override, and its own, as 3.0 writes them. */
export function listParameters({ document, pathItem, operation }: DocumentOperation): readonly NamedParameter[] {
  const declared = new Map<string, NamedParameter>()
  for (const value of [...listOf(pathItem['parameters']), ...listOf(operation['parameters'])]) {
    const parameter = followReferences(document, value)
    const { name, in: place } = parameter
    if (typeof name !== 'string' || name === '') refuseOperation('has a parameter without a name')
    const current = document.version === '2.0' ? upgradeParameter(parameter) : parameter
    declared.set(`${String(place)} ${place === 'body' ? '' : name}`, { ...current, name })
  }
  return [...declared.values()]
}

type NamedParameter = JsonObject & { readonly name: string }

const collectionStyles: ReadonlyMap<JsonValue, ParameterStyle> = new Map([
  ['ssv', 'spaceDelimited'],
  ['tsv', 'tabDelimited'],
  ['pipes', 'pipeDelimited'],
])

/** A parameter of 2.0 is its own schema, and arrays are its only collections. */
function upgradeParameter(parameter: JsonObject): JsonObject {
  const { collectionFormat = 'csv', schema = { ...parameter, required: undefined } } = parameter
  const style = collectionStyles.get(collectionFormat)
  return { ...parameter, schema, style, explode: collectionFormat === 'multi' }
}

function nameArgument(name: string, place: string, taken: ReadonlySet<string>): string {
  const readable = isModelPropertyName(name) ? name : name.replaceAll(/[^A-Za-z0-9.-]+/g, '_').replaceAll(/^_|_$/g, '')
  const base = readable.slice(0, 50) || 'value'
  const names = [isModelPropertyName(name) ? name : base, `${place}_${base}`]
  for (let count = 2; ; count += 1) {
    const free = names.find((each) => !taken.has(each))
    if (free !== undefined) return free
    names.push(`${place}_${base}_${count}`)
  }
}

type ValuePlan = Pick<ParameterPlan, 'style' | 'explode' | 'schema'>

function planValue({ document }: DocumentOperation, parameter: JsonObject, place: ParameterPlan['place']): ValuePlan {
  const description = cleanText(parameter['description'], textLimits.parameter)
  const describe = (schema: JsonValue = {}): JsonValue =>
    isJsonObject(schema) && description !== '' ? { ...schema, description } : schema
  const [media] = Object.values(objectOf(parameter['content']))
  if (media === undefined) return { ...planStyle(parameter, place), schema: describe(parameter['schema']) }
  return { style: 'json', explode: false, schema: describe(followReferences(document, media)['schema']) }
}

const queryStyles: ReadonlySet<JsonValue> = new Set([
  'form',
  'spaceDelimited',
  'pipeDelimited',
  'deepObject',
  'tabDelimited',
])

/** Style of a parameter, or of a property of a form (3.0, style values). */
export function planStyle(
  { name, style, explode }: JsonObject,
  place: ParameterPlan['place'],
): Omit<ValuePlan, 'schema'> {
  const styles = place === 'query' ? queryStyles : new Set<JsonValue>(['simple'])
  const [usual] = styles
  const chosen = style ?? usual ?? null
  if (!styles.has(chosen)) refuseOperation(`the parameter ${JSON.stringify(name)} has the style ${String(chosen)}`)
  // The cast is safe: the sets have nothing but styles.
  return { style: chosen as ParameterStyle, explode: typeof explode === 'boolean' ? explode : chosen === 'form' }
}
