import { isJsonObject, type JsonObject } from '@x/core'

// What known model APIs and hosts accept in the tools of a request. A server warns of the rest, and a host changes it.

/** The number of tools that the OpenAI API accepts in one request. */
export const maxModelTools = 128

/** Model APIs refuse these keywords at the root of a schema of arguments. */
export const refusedRootKeywords = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'] as const

/** True for a tool that models, or pages, may call. One that names neither is for both (extensions/apps, visibility). */
export function isToolFor(audience: 'model' | 'app', { _meta }: { readonly _meta?: unknown }): boolean {
  const ui = isJsonObject(_meta) ? _meta['ui'] : undefined
  const visibility = isJsonObject(ui) ? ui['visibility'] : undefined
  return !Array.isArray(visibility) || visibility.includes(audience)
}

/** True for a property name that every known model API accepts. */
export function isModelPropertyName(name: string): boolean {
  return /^[a-zA-Z0-9_.-]{1,64}$/.test(name)
}

const knownFormats: ReadonlySet<string> = new Set(
  (
    'date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference ' +
    'uuid uri-template json-pointer relative-json-pointer regex int32 int64 float double'
  ).split(' '),
)

/** True for a `format` that model APIs know. Some refuse any other. */
export function isModelFormat(format: string): boolean {
  return knownFormats.has(format)
}

/** Regular expressions of a schema, without those of its subschemas. */
export function patternsOf({ pattern, patternProperties }: JsonObject): readonly string[] {
  const patterns = Object.keys(isJsonObject(patternProperties) ? patternProperties : {})
  return typeof pattern === 'string' ? [...patterns, pattern] : patterns
}

/** True for look-around, which the regular expressions of model APIs do not have. */
export function hasLookAround(pattern: string): boolean {
  let isInClass = false
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern[index]
    // A parenthesis that is escaped, or in a character class, opens no group.
    if (character === '\\') index += 1
    else if (character === '[') isInClass = true
    else if (character === ']') isInClass = false
    else if (!isInClass && /^\(\?<?[=!]/.test(pattern.slice(index, index + 4))) return true
  }
  return false
}
