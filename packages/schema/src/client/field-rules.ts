import { formatCount, isJsonObject } from '@x/core'
import { checkOf, type Description, formValue } from '../basic/shape.ts'
import {
  booleanSchema,
  numberSchema,
  type PrimitiveSchemaDefinition,
  type StringSchema,
  stringSchema,
  untitledMultiSelectEnumSchema,
  untitledSingleSelectEnumSchema,
} from './elicitation-schema.ts'

/** What a form field may have as its value. */
export type FieldValue = string | number | boolean | readonly string[]

const formValueCheck = checkOf(formValue)

/** Kinds of fields whose schemas have different keywords. */
export type FieldKind = 'string' | 'number' | 'boolean' | 'choice' | 'choices'

const shapesByKind: Readonly<Record<FieldKind, Description>> = {
  string: stringSchema,
  number: numberSchema,
  boolean: booleanSchema,
  choice: untitledSingleSelectEnumSchema,
  choices: untitledMultiSelectEnumSchema,
}

/** Keywords that the schema of a field may have. */
export function fieldKeywordsOf(kind: FieldKind): readonly string[] {
  const fieldShape = shapesByKind[kind]
  return fieldShape.kind === 'object' ? Object.keys(fieldShape.members) : []
}

const typeNames = {
  boolean: 'a boolean',
  array: 'a list of strings',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
}

/** Describes what a field accepts, or returns `undefined` if it accepts `value`. */
export function describeFieldMismatch(field: PrimitiveSchemaDefinition, value: unknown): string | undefined {
  const typeName = typeNames[field.type]
  if (!isFieldValue(value)) return typeName
  if (field.type === 'boolean') return typeof value === 'boolean' ? undefined : typeName
  if (field.type === 'array') return Array.isArray(value) ? describeListMismatch(field, value) : typeName
  if (field.type === 'string') return typeof value === 'string' ? describeTextMismatch(field, value) : typeName
  return typeof value === 'number' ? describeNumberMismatch(field, value) : typeName
}

/** True for a value of a type that some field may have. */
export function isFieldValue(value: unknown): value is FieldValue {
  return formValueCheck(value) === undefined
}

type Field<Type> = Extract<PrimitiveSchemaDefinition, { readonly type: Type }>
type NumberDefinition = Extract<PrimitiveSchemaDefinition, { readonly minimum?: unknown }>

function describeNumberMismatch({ type, minimum, maximum }: NumberDefinition, value: number): string | undefined {
  if (type === 'integer' && !Number.isInteger(value)) return 'a whole number'
  if (minimum !== undefined && value < minimum) return `at least ${minimum}`
  return maximum !== undefined && value > maximum ? `at most ${maximum}` : undefined
}

function describeListMismatch(field: Field<'array'>, value: readonly string[]): string | undefined {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = field
  if (value.length < minItems) return `at least ${minItems} of the options`
  if (value.length > maxItems) return `at most ${maxItems} of the options`
  const options = new Set(choicesOf(items)?.map((choice) => choice.value))
  return value.every((item) => options.has(item)) ? undefined : 'nothing but the options of the form'
}

/** A value that people choose, and the text that they see for it. */
export interface Choice {
  readonly value: string
  readonly label: string
}

/**
 * Choices of a field or of its items, or `undefined` if any value is valid. Types are checked at run time, because the
 * server may send others than the schema declares.
 */
export function choicesOf(definition: { readonly [memberName: string]: unknown }): readonly Choice[] | undefined {
  const titles: unknown = definition['enumNames']
  for (const options of [definition['oneOf'], definition['enum'], definition['anyOf']]) {
    if (!Array.isArray(options)) continue
    const choices = options.map((option: unknown, index) => {
      if (isJsonObject(option)) return choiceOf(option['const'], option['title'])
      return choiceOf(option, Array.isArray(titles) ? titles[index] : undefined)
    })
    if (choices.every((choice) => choice !== undefined)) return choices
  }
  return undefined
}

function choiceOf(value: unknown, title: unknown): Choice | undefined {
  return typeof value === 'string' ? { value, label: typeof title === 'string' ? title : value } : undefined
}

function describeTextMismatch(field: Field<'string'>, value: string): string | undefined {
  const choices = choicesOf(field)
  if (choices) return choices.some((choice) => choice.value === value) ? undefined : 'one of the options of the form'
  return 'minLength' in field || 'maxLength' in field || 'format' in field
    ? describePlainTextMismatch(field, value)
    : undefined
}

function describePlainTextMismatch(field: StringSchema, value: string): string | undefined {
  const { minLength, maxLength, format } = field
  // JSON Schema counts code points.
  const length = [...value].length
  if (minLength !== undefined && length < minLength) return `at least ${formatCount(minLength, 'character')}`
  if (maxLength !== undefined && length > maxLength) return `at most ${formatCount(maxLength, 'character')}`
  return format === undefined || formats[format].test(value) ? undefined : formats[format].description
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/
const dateTimePattern =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

const formats: Readonly<
  Record<NonNullable<StringSchema['format']>, { readonly description: string; test(value: string): boolean }>
> = {
  date: { description: 'a date such as 2026-07-28', test: isCalendarDate },
  'date-time': {
    description: 'a time such as 2026-07-28T12:00:00Z',
    test: (value: string) => isCalendarDate(dateTimePattern.exec(value)?.[1] ?? ''),
  },
  email: { description: 'an e-mail address', test: (value: string) => /^[^\s@]+@[^\s@]+$/.test(value) },
  uri: { description: 'an absolute URI', test: (value: string) => URL.canParse(value) },
}

function isCalendarDate(value: string): boolean {
  if (!datePattern.test(value)) return false
  const timestampMs = Date.parse(`${value}T00:00:00Z`)
  // `Date.parse` accepts 30 February as 2 March.
  return !Number.isNaN(timestampMs) && new Date(timestampMs).toISOString().startsWith(value)
}
