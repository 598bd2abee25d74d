import { quoteText } from '@x/core'
import { DefinitionError } from '@x/exchange'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { jsonPointerOf } from '../json-schema/compile-schema.ts'

/** A part of a form's schema, and where it is. */
export interface Field {
  readonly schema: JsonObject
  /** For error messages, such as `property "age"`. */
  readonly location: string
  /** The form's name in errors. */
  readonly errorSubject: string
  /** Definitions that a `$ref` of the form may refer to, by the text of the `$ref`. */
  readonly definitions: ReadonlyMap<string, JsonObject>
}

/** The longest name, title or option, in UTF-16 units. It fits on one line of a form. */
export const maxLabelLength = 256

/** The longest description or default text, in UTF-16 units. */
export const maxFieldTextLength = 4096

/** `reason` says what is wrong and what is allowed. */
export function fieldError(field: Field, reason: string, cause?: unknown): DefinitionError {
  return new DefinitionError('schema', field.errorSubject, { reason: `${field.location}: ${reason}`, cause })
}

const unsupportedKeywordAdvice =
  'say in the description what is wanted, and check it in the handler or, with zod, in refine()'

const adviceByKeyword: ReadonlyMap<string, string> = new Map([
  ['pattern', `it is allowed beside a format only; ${unsupportedKeywordAdvice}`],
  ['multipleOf', unsupportedKeywordAdvice],
  ['exclusiveMinimum', 'give the least allowed number as minimum, or make it an integer'],
  ['exclusiveMaximum', 'give the greatest allowed number as maximum, or make it an integer'],
  ['uniqueItems', 'leave it out: a choice of several has each at most once'],
  ['allOf', unsupportedKeywordAdvice],
])

/**
 * Throws for a keyword that is not allowed: a constraint that cannot be sent to the client must not be dropped
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

/** Every property may have a title and a description. */
export function labelsOf(field: Field): { title: string | undefined; description: string | undefined } {
  return {
    title: readTextKeyword(field, 'title', maxLabelLength),
    description: readTextKeyword(field, 'description', maxFieldTextLength),
  }
}

/** A keyword's text, or undefined if the keyword is absent. */
export function readTextKeyword(field: Field, keyword: string, maxLength: number): string | undefined {
  const value = field.schema[keyword]
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw fieldError(field, `"${keyword}" is ${quoteText(value)}; it must be a string`)
  return requireTextLength(field, value, { textName: `"${keyword}"`, maxTextLength: maxLength })
}

/** Throws if a text is too long to be shown. */
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

/** A minimum and a maximum count, from two keywords. */
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

/** Throws if the minimum is greater than the maximum. */
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
 * A default must be a value that a user could fill in, so for a schema with a transform it must be an input of the
 * transform.
 */
export function invalidDefaultError(field: Field, requirement: string): DefinitionError {
  const defaultText = quoteText(field.schema['default'] ?? null)
  return fieldError(
    field,
    `the default is ${defaultText}; it must be ${requirement} (with zod, before a transform: prefault())`,
  )
}

/** Drops undefined members, and freezes the object because all calls share it. */
export function freezeDefinedMembers<T extends object>(members: T): T {
  const definedEntries = Object.entries(members).filter(([, value]) => value !== undefined)
  // In the types of messages, a member that may be undefined may also be absent, so the result is still a T.
  return Object.freeze(Object.fromEntries(definedEntries)) as T
}

/** Follows the field's `$ref`, if it has one. */
export function resolveField(field: Field): Field {
  let { schema } = field
  // A definition may itself be a reference.
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
 * Title, description and default are allowed beside a reference. A constraint is not, because it would have to be
 * combined with those of the definition.
 */
function readSiblingKeywords(field: Field, schema: JsonObject): JsonObject {
  const { $ref: _, ...siblings } = schema
  rejectOtherKeywords({ ...field, schema: siblings }, 'a reference', ['title', 'description', 'default'])
  return siblings
}

/** A schema's definitions, by the references to them. */
export function definitionsOf(root: JsonObject): ReadonlyMap<string, JsonObject> {
  const definitions = new Map<string, JsonObject>()
  for (const keyword of ['$defs', 'definitions']) {
    const namedSchemas = root[keyword]
    for (const [name, schema] of Object.entries(isJsonObject(namedSchemas) ? namedSchemas : {})) {
      if (isJsonObject(schema)) definitions.set(`#/${keyword}${jsonPointerOf([name])}`, schema)
    }
  }
  return definitions
}
