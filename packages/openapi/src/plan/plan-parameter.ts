import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { isModelPropertyName } from '@x/schema/internal'
import { cleanText, textLimits } from '../document/clean-text.ts'
import { refuseOperation } from '../document/open-api-error.ts'
import {
  type DocumentOperation,
  followReferences,
  listOf,
  objectOf,
  type OpenApiDocument,
} from '../document/open-document.ts'

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
  /** The name of the argument. Models refuse some names of parameters. */
  readonly argument: string
  readonly name: string
  readonly place: 'path' | 'query' | 'header'
  readonly style: ParameterStyle
  readonly explode: boolean
  readonly isRequired: boolean
  readonly schema: JsonValue
}

/** The names that the author sends with each request, in lower case, so that they are no arguments. */
export interface FixedNames {
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
}

/** Headers of the connection, and those by which servers and proxies decide where a request is from. */
const forbiddenHeaders =
  /^(?:host|cookie|forwarded|x-forwarded-.*|connection|keep-alive|content-length|expect|te|trailer|transfer-encoding|upgrade|via|proxy-.*|mcp-.*|sec-.*)$/

/** Headers that the credential or the client of the API writes. */
const ownHeaders: ReadonlySet<string> = new Set(['authorization', 'accept', 'content-type'])

/** Plans the arguments of an operation that are parameters. `reserved` is the argument of the body, if there is one. */
export function planParameters(
  document: OpenApiDocument,
  source: DocumentOperation,
  { fixed, reserved }: { readonly fixed: FixedNames; readonly reserved: string | undefined },
): readonly ParameterPlan[] {
  const pathNames = new Set(Array.from(source.path.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name))
  const taken = new Set(reserved === undefined ? [] : [reserved])
  const keys = apiKeyNames(document)
  const plans = listParameters(document, source).flatMap(({ name, parameter }): ParameterPlan[] => {
    if (keys.has(`${String(parameter['in'])} ${name.toLowerCase()}`)) return []
    const place = findPlace(parameter, name)
    if (place === undefined || isFixed(place, name, fixed)) return []
    if (place === 'path' && !pathNames.delete(name)) return []
    const argument = nameArgument(name, place, taken)
    taken.add(argument)
    const isRequired = place === 'path' || parameter['required'] === true
    return [{ argument, name, place, isRequired, ...planValue(document, parameter, place) }]
  })
  for (const name of pathNames) refuseOperation(`its path has {${name}}, and no parameter of this name`)
  return plans
}

/** Returns where a parameter is sent. Undefined for one that is never an argument of its own. */
function findPlace({ in: place, required }: JsonObject, name: string): ParameterPlan['place'] | undefined {
  const isForbidden = place === 'header' && forbiddenHeaders.test(name.toLowerCase())
  if (place === 'cookie' || isForbidden)
    return required === true ? refuseOperation(`requires the ${place} ${JSON.stringify(name)}`) : undefined
  const known = (['path', 'query', 'header'] as const).find((each) => each === place)
  if (known !== undefined || place === 'body' || place === 'formData') return known
  return refuseOperation(`the parameter ${JSON.stringify(name)} is in ${JSON.stringify(place ?? null)}`)
}

function isFixed(place: ParameterPlan['place'], name: string, fixed: FixedNames): boolean {
  const lowerCase = name.toLowerCase()
  if (place === 'query') return fixed.query.has(lowerCase)
  return place === 'header' && (ownHeaders.has(lowerCase) || fixed.headers.has(lowerCase))
}

/** Lists the parameters of the path that the operation does not override, and its own. */
export function listParameters(
  document: OpenApiDocument,
  { pathItem, operation }: DocumentOperation,
): readonly { readonly name: string; readonly parameter: JsonObject }[] {
  const declared = new Map<string, { readonly name: string; readonly parameter: JsonObject }>()
  for (const value of [...listOf(pathItem['parameters']), ...listOf(operation['parameters'])]) {
    const parameter = followReferences(document, value)
    const { name, in: place } = parameter
    if (typeof name !== 'string' || name === '') refuseOperation('has a parameter without a name')
    declared.set(`${String(place)} ${place === 'body' ? '' : name}`, { name, parameter })
  }
  return [...declared.values()]
}

function apiKeyNames({ root }: OpenApiDocument): ReadonlySet<string> {
  const schemes = {
    ...objectOf(root['securityDefinitions']),
    ...objectOf(objectOf(root['components'])['securitySchemes']),
  }
  return new Set(
    Object.values(schemes).flatMap((scheme) => {
      const { type, in: place, name } = objectOf(scheme)
      return type === 'apiKey' && typeof name === 'string' ? [`${String(place)} ${name.toLowerCase()}`] : []
    }),
  )
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

function planValue(document: OpenApiDocument, parameter: JsonObject, place: ParameterPlan['place']): ValuePlan {
  const description = cleanText(parameter['description'], textLimits.parameter)
  const describe = (schema: JsonValue = {}): JsonValue =>
    isJsonObject(schema) ? { ...schema, readOnly: undefined, ...(description !== '' && { description }) } : schema
  if (document.version === '2.0')
    return { ...planCollection(parameter, place), schema: describe({ ...parameter, required: undefined }) }
  const { content, schema } = parameter
  const [media] = Object.entries(objectOf(content))
  if (media !== undefined) {
    const { schema: ofMedia } = followReferences(document, media[1])
    return { style: 'json', explode: false, schema: describe(ofMedia) }
  }
  return { ...planStyle(parameter, place), schema: describe(schema) }
}

const queryStyles: ReadonlySet<JsonValue> = new Set(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'])

/** Returns the style of a parameter, or of a property of a form (3.0, style values). */
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

const collectionStyles: ReadonlyMap<JsonValue, ParameterStyle> = new Map([
  ['csv', 'form'],
  ['multi', 'form'],
  ['ssv', 'spaceDelimited'],
  ['tsv', 'tabDelimited'],
  ['pipes', 'pipeDelimited'],
])

/** Returns the style of a parameter of 2.0, where arrays are the only collections. */
export function planCollection(
  { collectionFormat = 'csv' }: JsonObject,
  place: ParameterPlan['place'],
): Omit<ValuePlan, 'schema'> {
  const style = collectionStyles.get(collectionFormat) ?? 'form'
  return { style: style === 'form' && place !== 'query' ? 'simple' : style, explode: collectionFormat === 'multi' }
}
