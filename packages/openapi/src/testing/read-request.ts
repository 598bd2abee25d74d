import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'

const delimiters: ReadonlyMap<unknown, string> = new Map([
  ['spaceDelimited', '%20'],
  ['pipeDelimited', '|'],
])

/**
 * Reads a parameter of a request as a server does that knows the document: a text, a list, or an object of texts.
 * Shares nothing with the code that writes requests. `like` has the type, which a server takes from the schema.
 */
export function readParameter(parameter: JsonObject, like: JsonValue, url: string, template: string): unknown {
  const isQuery = parameter['in'] === 'query'
  const usual = isQuery ? 'form' : 'simple'
  const { name, style = usual, explode = style === 'form' } = parameter
  const [address, query] = `${url}?`.split('?') as [string, string]
  const pairs = query.split('&').map((pair) => `${pair}=`.split('=') as [string, string])
  const named = pairs.filter(([key]) => decodeURIComponent(key) === name).map(([, value]) => value)
  const raw = isQuery ? named : readPath(String(name), address, template)
  return readValue(like, { raw, pairs, delimiter: delimiters.get(style) ?? ',', explode: explode === true, isQuery })
}

interface Written {
  readonly raw: readonly string[]
  readonly pairs: readonly (readonly string[])[]
  readonly delimiter: string
  readonly explode: boolean
  readonly isQuery: boolean
}

function readValue(like: JsonValue, { raw, pairs, delimiter, explode, isQuery }: Written): unknown {
  const parts = (raw[0] ?? '').split(delimiter)
  if (isJsonArray(like)) return (explode && isQuery ? raw : parts).map(decodeURIComponent)
  if (isJsonObject(like)) return toObject(explode && isQuery ? pairs : pairUp(parts, explode))
  return raw.slice(0, 1).map(decodeURIComponent)[0]
}

function pairUp(parts: readonly string[], isExploded: boolean): readonly (readonly string[])[] {
  if (isExploded) return parts.map((part) => part.split('='))
  return parts.flatMap((_, index) => (index % 2 === 0 ? [parts.slice(index, index + 2)] : []))
}

function toObject(pairs: readonly (readonly string[])[]): Record<string, string> {
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [decodeURIComponent(key), decodeURIComponent(value)]))
}

function readPath(name: string, address: string, template: string): string[] {
  const names = Array.from(template.matchAll(/\{([^{}]*)\}/g), ([, each]) => each)
  const pattern = template.replaceAll(/\{[^{}]*\}|[$()*+.?[\\\]^|]/g, (part) =>
    part[0] === '{' ? '([^/?]*)' : `\\${part}`,
  )
  const found = new RegExp(`${pattern}$`).exec(address)?.[names.indexOf(name) + 1]
  return found === undefined ? [] : [found]
}

/** A value as a server reads it. */
export function asRead(value: JsonValue): unknown {
  const text = (each: JsonValue | undefined): string => (typeof each === 'object' ? JSON.stringify(each) : String(each))
  if (isJsonArray(value)) return value.map(text)
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, text(member)]))
  return text(value)
}
