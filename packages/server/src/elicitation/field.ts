import { quoteText } from '@x/core'
import { DefinitionError } from '@x/exchange'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/** A part of a form's schema, with its location. */
export interface Field {
  readonly schema: JsonObject
  /** The location for error messages, such as `property "age"`. */
  readonly location: string
  /** The name of the form in errors. */
  readonly errorSubject: string
  /** The definitions to which a `$ref` of the form may refer, by the text of the `$ref`. */
  readonly definitions: ReadonlyMap<string, JsonObject>
}

/** The maximum length of a name, a title or an option, in UTF-16 units. It fits on one line of a form. */
export const maxLabelLength = 256

/** The maximum length of a description or a default text, in UTF-16 units. */
export const maxFieldTextLength = 4096

/** Creates the error for a part of a form. The reason contains the problem and the allowed values. */
export function fieldError(field: Field, reason: string): DefinitionError {
  return new DefinitionError('schema', field.errorSubject, { reason: `${field.location}: ${reason}` })
}

const unsupportedKeywordAdvice =
  'say in the description what is wanted, and check it in the handler or, with zod, in refine()'

/** The advice in errors about keywords that are not allowed but that authors often use. */
const adviceByKeyword: ReadonlyMap<string, string> = new Map([
  ['pattern', `it is allowed beside a format only; ${unsupportedKeywordAdvice}`],
  ['multipleOf', unsupportedKeywordAdvice],
  ['exclusiveMinimum', 'give the least allowed number as minimum, or make it an integer'],
  ['exclusiveMaximum', 'give the greatest allowed number as maximum, or make it an integer'],
  ['uniqueItems', 'leave it out: a choice of several has each at most once'],
  ['allOf', unsupportedKeywordAdvice],
])

/**
 * Throws for a keyword that is not allowed. A constraint that cannot be sent to the client must not be dropped
 * silently.
 */
export function rejectOtherKeywords(field: Field, kindDescription: string, allowedKeywords: readonly string[]): void {
  for (const keyword of Object.keys(field.schema)) {
    if (allowedKeywords.includes(keyword)) continue
    const keywordAdvice = adviceByKeyword.get(keyword)
    const allowedText = `${kindDescription} may have ${allowedKeywords.join(', ')}`
    throw fieldError(
      field,
      `"${keyword}" cannot be sent to clients; ${keywordAdvice === undefined ? allowedText : `${keywordAdvice} (${allowedText})`}`,
    )
  }
}

/** Returns the title and the description, which every property may have. */
export function labelsOf(field: Field): { title: string | undefined; description: string | undefined } {
  return {
    title: readTextKeyword(field, 'title', maxLabelLength),
    description: readTextKeyword(field, 'description', maxFieldTextLength),
  }
}

/** Returns the text of a keyword, or undefined if the keyword is absent. */
export function readTextKeyword(field: Field, keyword: string, maxLength: number): string | undefined {
  const value = field.schema[keyword]
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw fieldError(field, `"${keyword}" is ${quoteText(value)}; it must be a string`)
  return requireTextLength(field, value, { textName: `"${keyword}"`, maxTextLength: maxLength })
}

/** Returns a text. Throws if it is too long to be shown. */
export function requireTextLength(
  field: Field,
  value: string,
  lengthLimit: { textName: string; maxTextLength: number },
): string {
  if (value.length <= lengthLimit.maxTextLength) return value
  throw fieldError(
    field,
    `${lengthLimit.textName} has ${value.length} characters; at most ${lengthLimit.maxTextLength} are allowed`,
  )
}

/** Returns the values of two keywords for a minimum and a maximum count. */
export function readCountRange(
  field: Field,
  minKeyword: string,
  maxKeyword: string,
): [number | undefined, number | undefined] {
  const range: [number | undefined, number | undefined] = [
    readCountKeyword(field, minKeyword),
    readCountKeyword(field, maxKeyword),
  ]
  return requireNonEmptyRange(field, range)
}

/** Returns a range. Throws if its minimum is greater than its maximum. */
export function requireNonEmptyRange<Range extends readonly [number | undefined, number | undefined]>(
  field: Field,
  range: Range,
): Range {
  const [minimum, maximum] = range
  if (minimum === undefined || maximum === undefined || minimum <= maximum) return range
  throw fieldError(field, `nothing is at least ${minimum} and at most ${maximum}`)
}

function readCountKeyword(field: Field, keyword: string): number | undefined {
  const value = field.schema[keyword]
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw fieldError(field, `"${keyword}" is ${quoteText(value)}; it must be a whole number, 0 or more`)
}

/**
 * Creates the error of an invalid default. A default must be a value that a user could fill in. For a schema with a
 * transform it must be an input of the transform.
 */
export function invalidDefaultError(field: Field, requirement: string): DefinitionError {
  const defaultText = quoteText(field.schema['default'] ?? null)
  return fieldError(
    field,
    `the default is ${defaultText}; it must be ${requirement} (with zod, before a transform: prefault())`,
  )
}

/** Returns a frozen object without the undefined members. It is frozen because all calls share it. */
export function freezeDefinedMembers<T extends object>(members: T): T {
  const definedEntries = Object.entries(members).filter(([, value]) => value !== undefined)
  // A member that may be undefined may also be absent in the types of messages, so the result is still a T.
  return Object.freeze(Object.fromEntries(definedEntries)) as T
}

/** Returns a field with its `$ref` resolved, or the field itself if it has no `$ref`. */
export function resolveField(field: Field): Field {
  let { schema } = field
  // The definition may itself be a reference.
  for (let hop = 0; hop < 16; hop++) {
    const reference = schema['$ref']
    if (reference === undefined) return { ...field, schema }
    schema = { ...resolveDefinition(field, reference), ...readSiblingKeywords(field, schema) }
  }
  throw fieldError(field, '"$ref" leads through more than 16 references; refer to the type itself')
}

function resolveDefinition(field: Field, reference: JsonValue): JsonObject {
  const target = typeof reference === 'string' ? field.definitions.get(reference) : undefined
  if (target !== undefined) return target
  throw fieldError(field, `"$ref" is ${quoteText(reference)}; it must name an entry of the schema's own "$defs"`)
}

/**
 * Returns the keywords beside a reference. A title, a description and a default are allowed. A constraint is not,
 * because it would have to be combined with those of the definition.
 */
function readSiblingKeywords(field: Field, schema: JsonObject): JsonObject {
  const { $ref: _, ...siblings } = schema
  rejectOtherKeywords({ ...field, schema: siblings }, 'a reference', ['title', 'description', 'default'])
  return siblings
}

/** Returns the definitions of a schema, by the references to them. */
export function definitionsOf(root: JsonObject): ReadonlyMap<string, JsonObject> {
  const definitions = new Map<string, JsonObject>()
  for (const keyword of ['$defs', 'definitions']) {
    const namedSchemas = root[keyword]
    for (const [name, schema] of Object.entries(isJsonObject(namedSchemas) ? namedSchemas : {})) {
      if (isJsonObject(schema)) definitions.set(`#/${keyword}/${escapePointerSegment(name)}`, schema)
    }
  }
  return definitions
}

/** Returns a name as one segment of a JSON Pointer (RFC 6901). */
function escapePointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
