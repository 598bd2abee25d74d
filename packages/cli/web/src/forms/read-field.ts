import { readForm } from '@x/client/forms'
import { parseJson } from '@x/core'
import type { JsonValue, PrimitiveSchemaDefinition } from '@x/schema'
import {
  type ChoicesKind,
  chosenOf,
  type Draft,
  type Field,
  type FieldKind,
  type FieldReading,
  textOf,
} from './field.ts'
import { readEntries } from './read-entries.ts'
import { fromLocalMoment } from './moment.ts'

/** The kinds of fields that a question can have (client/elicitation, requested schema). */
type QuestionKind = Extract<FieldKind, { readonly type: 'text' | 'number' | 'choice' | 'choices' }>

/** Parses the text of a field. Issues are sentences for the user. */
export function readField({ kind, required }: Field, draft: Draft): FieldReading {
  const reading = readKind(kind, draft)
  return reading === 'empty' && required ? { issue: missing(kind) } : reading
}

function readKind(kind: Field['kind'], draft: Draft): FieldReading {
  switch (kind.type) {
    case 'flag':
      return { value: draft === true }
    case 'text':
      return checked(kind, kind.format === 'date-time' ? momentOf(textOf(draft)) : textOf(draft))
    case 'number':
      return textOf(draft).trim() === '' ? 'empty' : checked(kind, Number(textOf(draft)))
    case 'choice':
      return checked(kind, textOf(draft))
    case 'choices':
      return checked(kind, chosenInOrder(kind, chosenOf(draft)))
    case 'entries':
      return readEntries(draft)
    default:
      return readJsonText(textOf(draft).trim())
  }
}

function missing({ type }: Field['kind']): string {
  if (type === 'choice') return 'Choose one of the options.'
  if (type === 'choices') return 'Choose at least one of the options.'
  return type === 'entries' ? 'Give at least one field and its value.' : 'Fill this in.'
}

/**
 * Validates a value in the same way as the client validates an answer. An empty text is left out, and so is an empty
 * list if the field requires no item.
 */
function checked(kind: QuestionKind, value: JsonValue): FieldReading {
  const isEmpty =
    value === '' || (kind.type === 'choices' && !kind.minItems && Array.isArray(value) && value.length === 0)
  if (isEmpty) return 'empty'
  const [field] = readForm({ type: 'object', properties: { value: definitionOf(kind) } }).fields
  const issue = field?.check(value)
  return issue === undefined ? { value } : { issue: `${issue}.` }
}

/** Returns the schema of a question's field of this kind. */
function definitionOf(kind: QuestionKind): PrimitiveSchemaDefinition {
  switch (kind.type) {
    case 'text': {
      const { format, minLength, maxLength } = kind
      return { type: 'string', format, minLength, maxLength }
    }
    case 'number':
      return { type: kind.whole ? 'integer' : 'number', minimum: kind.minimum, maximum: kind.maximum }
    case 'choice':
      return { type: 'string', oneOf: titled(kind.options) }
    default:
      return { type: 'array', items: { anyOf: titled(kind.options) }, minItems: kind.minItems, maxItems: kind.maxItems }
  }
}

function titled(options: ChoicesKind['options']): { readonly const: string; readonly title: string }[] {
  return options.map(({ value, label }) => ({ const: value, title: label }))
}

/** Converts a local time to UTC. Returns an invalid time unchanged, for the validation. */
function momentOf(text: string): string {
  return text === '' ? '' : (fromLocalMoment(text) ?? text)
}

/** Returns the chosen values, in the order of the options. */
function chosenInOrder({ options }: ChoicesKind, chosen: readonly string[]): string[] {
  return options.map(({ value }) => value).filter((value) => chosen.includes(value))
}

function readJsonText(text: string): FieldReading {
  if (text === '') return 'empty'
  const value = parseJson(text)
  return value === undefined ? { issue: 'Write this as JSON, such as ["a", 1] or {"name": "value"}.' } : { value }
}
