import { isJsonArray, isJsonObject, type JsonValue, stringifyWellFormed } from '@x/core'
import { ToolError } from '@x/server'
import type { ParameterPlan } from '../plan/plan-parameter.ts'

/** What decides how the value of a parameter, or of a property of a form, is written. */
export type WrittenValue = Pick<ParameterPlan, 'name' | 'style' | 'explode'>

/** No character of the text keeps a meaning in a URL. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, '\uFFFD')).replaceAll(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
}

/** Below arrays and objects, OpenAPI defines no form, so what is deeper is JSON. */
export function writeText(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? stringifyWellFormed(value) : String(value)
}

const delimiters: Readonly<Record<string, string>> = {
  simple: ',',
  form: ',',
  spaceDelimited: '%20',
  pipeDelimited: '|',
  tabDelimited: '%09',
}

/**
 * Pairs of a query or of a form (OpenAPI 3.1, style values). Names and values are encoded. A delimiter within an item
 * is encoded too, so that a comma does not become two items.
 */
export function writePairs({ name, style, explode }: WrittenValue, value: JsonValue): readonly string[] {
  if (value === null) return []
  const pair = (key: string, text: string): string => `${percentEncode(key)}=${text}`
  if (style === 'json' || typeof value !== 'object') return [pair(name, percentEncode(writeText(value)))]
  if (style === 'deepObject') return writeDeep(name, value)
  const items = itemsOf(value, explode)
  if (explode)
    return items.map(([key = '', text]) =>
      text === undefined ? pair(name, percentEncode(key)) : pair(key, percentEncode(text)),
    )
  return items.length === 0 ? [] : [pair(name, joinItems(items.flat(), name, style))]
}

function membersOf(value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    member === undefined || member === null ? [] : [[key, member]],
  )
}

/** A server that decodes first cannot distinguish an encoded space from the delimiter, so no item may have one. */
function joinItems(items: readonly string[], name: string, style: string): string {
  const delimiter = delimiters[style] ?? ','
  const plain = decodeURIComponent(delimiter)
  if (plain !== ',' && items.some((item) => item.includes(plain)))
    throw new ToolError(`An item of ${name} must not contain ${JSON.stringify(plain)}, which separates the items`)
  return items.map(percentEncode).join(delimiter)
}

/** Items of a list that is one value of a query, still encoded. Some servers encode the delimiter of their own links. */
export function splitItems(written: string, style: string): readonly string[] {
  const plain = decodeURIComponent(delimiters[style] ?? ',')
  if (plain === ',') return written.split(plain)
  return written.replaceAll('+', '%20').replaceAll(encodeURIComponent(plain), plain).split(plain)
}

/**
 * Writes `filter[state]=open`. OpenAPI leaves open what is deeper: names follow one another, and arrays repeat their
 * name.
 */
function writeDeep(name: string, value: JsonValue): readonly string[] {
  if (isJsonObject(value)) return membersOf(value).flatMap(([key, member]) => writeDeep(`${name}[${key}]`, member))
  if (!isJsonArray(value)) return [`${percentEncode(name)}=${percentEncode(writeText(value))}`]
  return value.flatMap((item, index) => writeDeep(isJsonObject(item) ? `${name}[${index}]` : name, item))
}

/** In the style `simple`. An empty text would be another path. */
export function writePathValue({ name, explode, style }: WrittenValue, value: JsonValue): string {
  const items = style === 'json' ? [[writeText(value)]] : itemsOf(value, explode)
  const text = items.flat().join('/')
  // Some proxies decode a path before they resolve its segments.
  const segments = text
    .replaceAll(/%2f|%5c/gi, '/')
    .replaceAll(/%2e/gi, '.')
    .split(/[/\\]/)
  if (value === null || text === '' || segments.some((segment) => segment === '.' || segment === '..'))
    throw new ToolError(`${name} must be a part of a path: neither empty nor with a segment "." or ".."`)
  return items.map((item) => item.map(percentEncode).join('=')).join(',')
}

/** In the style `simple`. Nothing in a header is encoded. */
export function writeHeaderValue({ name, style, explode }: WrittenValue, value: JsonValue): string {
  const texts = style === 'json' ? [writeText(value)] : itemsOf(value, explode).map((item) => item.join('='))
  const isList = typeof value === 'object' && style !== 'json'
  const text = texts.join(',')
  if (!/^[\u0020-\u007e]*$/.test(text)) throw new ToolError(`${name} must have only printable ASCII characters`)
  if (isList && texts.some((each) => each.includes(',')))
    throw new ToolError(`An item of ${name} must not contain ",", which separates the items`)
  return text
}

function itemsOf(value: JsonValue, explode: boolean): readonly (readonly string[])[] {
  if (isJsonArray(value)) return value.map((item) => [writeText(item)])
  if (!isJsonObject(value)) return [[writeText(value)]]
  return membersOf(value).flatMap(([key, member]) =>
    explode ? [[key, writeText(member)]] : [[key], [writeText(member)]],
  )
}
