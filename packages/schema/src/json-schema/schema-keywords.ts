import { isJsonObject, type JsonObject } from '@x/core'

/** Finds the first malformed keyword of a schema. Keywords of both dialects are checked, and subschemas are not. */
export function findMalformedKeyword(schema: JsonObject): string | undefined {
  for (const [keyword, value] of Object.entries(schema)) {
    const form = formByKeyword.get(keyword)
    if (form !== undefined && value !== undefined && !form.test(value))
      return `its ${keyword} must be ${form.description}`
  }
  return undefined
}

interface KeywordForm {
  readonly description: string
  readonly test: (value: unknown) => boolean
}

const typeNames: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

const isString = (value: unknown): boolean => typeof value === 'string'
const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isJsonObject(value)
const isArrayOf =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(test)
const isMapOf =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    isJsonObject(value) && Object.values(value).every(test)
const isNonNegativeInteger = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0

const stringForm: KeywordForm = { description: 'a string', test: isString }
const stringArrayForm: KeywordForm = { description: 'an array of strings', test: isArrayOf(isString) }
/** With another character, an anchor could be the same reference as the JSON Pointer of another part. */
const anchorForm: KeywordForm = {
  description: 'a name of letters, digits, dots, dashes and underscores',
  test: (value) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
}
const numberForm: KeywordForm = { description: 'a number', test: Number.isFinite }
const countForm: KeywordForm = { description: 'a whole number', test: isNonNegativeInteger }
const booleanForm: KeywordForm = { description: 'a boolean', test: (value) => typeof value === 'boolean' }
const schemaForm: KeywordForm = { description: 'a schema', test: isSchema }
const schemaArrayForm: KeywordForm = {
  description: 'a non-empty array of schemas',
  test: (value) => isSchemaArray(value) && value.length > 0,
}
const schemaMapForm: KeywordForm = { description: 'an object of schemas', test: isMapOf(isSchema) }

function isSchemaArray(value: unknown): value is readonly unknown[] {
  return isArrayOf(isSchema)(value)
}

const keywordsByForm: readonly (readonly [KeywordForm, readonly string[]])[] = [
  [stringForm, ['$ref', '$dynamicRef', '$id', '$schema', 'pattern', 'format']],
  [anchorForm, ['$anchor', '$dynamicAnchor']],
  [stringArrayForm, ['required']],
  [numberForm, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
  [countForm, ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']],
  [countForm, ['minContains', 'maxContains']],
  [booleanForm, ['uniqueItems']],
  [schemaForm, ['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties', 'additionalItems']],
  [schemaForm, ['unevaluatedProperties', 'unevaluatedItems']],
  [schemaArrayForm, ['allOf', 'anyOf', 'oneOf', 'prefixItems']],
  [schemaMapForm, ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']],
  [{ description: 'an array', test: Array.isArray }, ['enum']],
  [
    { description: 'a schema or an array of schemas', test: (value) => isSchema(value) || isSchemaArray(value) },
    ['items'],
  ],
  [{ description: 'an object of arrays of strings', test: isMapOf(isArrayOf(isString)) }, ['dependentRequired']],
  [
    {
      description: 'an object of schemas and arrays of strings',
      test: isMapOf((value) => isSchema(value) || stringArrayForm.test(value)),
    },
    ['dependencies'],
  ],
  [
    { description: 'a number above zero', test: (value) => Number.isFinite(value) && Number(value) > 0 },
    ['multipleOf'],
  ],
  [{ description: 'the name of a type, or an array of them', test: isTypeKeyword }, ['type']],
]

const formByKeyword: ReadonlyMap<string, KeywordForm> = new Map(
  keywordsByForm.flatMap(([form, keywords]) => keywords.map((keyword) => [keyword, form] as const)),
)

function isTypeKeyword(value: unknown): boolean {
  return (
    typeNames.has(value) || (Array.isArray(value) && value.length > 0 && value.every((name) => typeNames.has(name)))
  )
}
