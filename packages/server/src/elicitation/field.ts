import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { DefinitionError } from '../request/definition-error.ts'

/** A part of a schema, and its place. */
export interface Field {
  readonly schema: JsonObject
  /** For people: `property "age"`. */
  readonly location: string
  /** The name of the form in errors. */
  readonly errorSubject: string
  /** The definitions that a `$ref` of the form may name, by its whole text. */
  readonly definitions: ReadonlyMap<string, JsonObject>
}

/** UTF-16 units of a name, a title, or a value that can be chosen: what fits on one line of a form. */
export const maxLabelLength = 256

/** UTF-16 units of a description or a default text. */
export const maxFieldTextLength = 4096

/** The error for a part of a form. The reason says what was found and what is allowed. */
export function fieldError(field: Field, reason: string): DefinitionError {
  return new DefinitionError('schema', field.errorSubject, { reason: `${field.location}: ${reason}` })
}

const unsupportedKeywordAdvice =
  'say in the description what is wanted, and check it in the handler or, with zod, in refine()'

/** The advice for a keyword that is not allowed and that authors are likely to use. */
const adviceByKeyword: ReadonlyMap<string, string> = new Map([
  ['pattern', `it is allowed beside a format only; ${unsupportedKeywordAdvice}`],
  ['multipleOf', unsupportedKeywordAdvice],
  ['exclusiveMinimum', 'give the least allowed number as minimum, or make it an integer'],
  ['exclusiveMaximum', 'give the greatest allowed number as maximum, or make it an integer'],
  ['uniqueItems', 'leave it out: a choice of several has each at most once'],
  ['allOf', unsupportedKeywordAdvice],
])

/** Refuses every keyword that is not among the allowed ones: what cannot be sent must not be lost unseen. */
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

/** The title and the description, which every kind of property may have. */
export function labelsOf(field: Field): { title: string | undefined; description: string | undefined } {
  return {
    title: readTextKeyword(field, 'title', maxLabelLength),
    description: readTextKeyword(field, 'description', maxFieldTextLength),
  }
}

/** The text under a keyword, if there is one. */
export function readTextKeyword(field: Field, keyword: string, maxLength: number): string | undefined {
  const value = field.schema[keyword]
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw fieldError(field, `"${keyword}" is ${formatJson(value)}; it has to be a string`)
  return requireTextLength(field, value, { textName: `"${keyword}"`, maxTextLength: maxLength })
}

/** A text that is not too long to be shown. */
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

/** Two keywords that say how few and how many there may be. */
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

/** A range in which there is something. */
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
  throw fieldError(field, `"${keyword}" is ${formatJson(value)}; it has to be a whole number, 0 or more`)
}

/**
 * Creates the error of an invalid default. A default is a value that a user could fill in, so that for a schema with a
 * transform it must be an input of the transform.
 */
export function invalidDefaultError(field: Field, requirement: string): DefinitionError {
  const defaultText = formatJson(field.schema['default'] ?? null)
  return fieldError(
    field,
    `the default is ${defaultText}; it has to be ${requirement} (with zod, before a transform: prefault())`,
  )
}

/** A value in an error message, cut where it gets long. */
export function formatJson(value: JsonValue): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** The object of a wire type without its undefined members, and frozen, since every call shares it. */
export function freezeDefinedMembers<T extends object>(members: T): T {
  const definedEntries = Object.entries(members).filter(([, value]) => value !== undefined)
  // A member that may be undefined in a wire type may also be absent, so that the rest is still a T.
  return Object.freeze(Object.fromEntries(definedEntries)) as T
}

/** The same place with what its `$ref` names in it, if it has one. */
export function resolveField(field: Field): Field {
  let { schema } = field
  // A definition may be a reference itself.
  for (let hop = 0; hop < 16; hop++) {
    const reference = schema['$ref']
    if (reference === undefined) return { ...field, schema }
    schema = { ...resolveReference(field, reference), ...readSiblingKeywords(field, schema) }
  }
  throw fieldError(field, '"$ref" leads through more than 16 references; refer to the type itself')
}

function resolveReference(field: Field, reference: JsonValue): JsonObject {
  const target = typeof reference === 'string' ? field.definitions.get(reference) : undefined
  if (target !== undefined) return target
  throw fieldError(field, `"$ref" is ${formatJson(reference)}; it has to name an entry of the schema's own "$defs"`)
}

/**
 * Checks the keywords beside a reference: texts and a default are allowed, but a second constraint would have to hold
 * as well.
 */
function readSiblingKeywords(field: Field, schema: JsonObject): JsonObject {
  const { $ref: _, ...siblings } = schema
  rejectOtherKeywords({ ...field, schema: siblings }, 'a reference', ['title', 'description', 'default'])
  return siblings
}

/** The definitions of a schema, by the references that name them. */
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

/** A name as a step of a JSON Pointer (RFC 6901). */
function escapePointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
