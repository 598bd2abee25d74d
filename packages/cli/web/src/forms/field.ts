import type { JsonValue } from '@x/schema'

/** An option: its value, and the text that the user sees. */
export interface Option {
  readonly value: string
  readonly label: string
}

/** The format of a text. */
export type TextFormat = 'date' | 'date-time' | 'email' | 'uri'

/** Several options. */
export interface ChoicesKind {
  readonly type: 'choices'
  readonly options: readonly Option[]
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
}

/** The kind of a field's value. */
export type FieldKind =
  /** A line of text. Lengths count code points, as JSON Schema does. */
  | {
      readonly type: 'text'
      readonly format?: TextFormat | undefined
      readonly minLength?: number | undefined
      readonly maxLength?: number | undefined
    }
  /** A number or an integer. */
  | {
      readonly type: 'number'
      readonly whole: boolean
      readonly minimum?: number | undefined
      readonly maximum?: number | undefined
    }
  | { readonly type: 'flag' }
  /** One of the options. */
  | { readonly type: 'choice'; readonly options: readonly Option[] }
  | ChoicesKind
  /** An object whose keys the user enters. */
  | { readonly type: 'entries' }
  /** Any other value, written as JSON. */
  | { readonly type: 'json' }

/** A row of an `entries` field, as typed. */
export interface Entry {
  readonly name: string
  readonly value: string
}

/** The input of a field: text, a check mark, the selected values, or rows. */
export type Draft = string | boolean | readonly string[] | readonly Entry[]

/** The parsed input of a field: a value, an error text, or nothing for an empty field. */
export type FieldReading = { readonly value: JsonValue } | { readonly issue: string } | 'empty'

/** One field of a form, independent of its schema. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly description?: string | undefined
  readonly required: boolean
  readonly kind: FieldKind
  /** The initial input: the schema's default, or an empty one. */
  readonly initial: Draft
}

/** Returns the input of a field with one text. */
export function textOf(draft: Draft): string {
  return typeof draft === 'string' ? draft : ''
}

/** Returns the input of a field with several options. */
export function chosenOf(draft: Draft): readonly string[] {
  return Array.isArray(draft) ? draft.filter((item) => typeof item === 'string') : []
}

/** Returns the input of a field with rows. */
export function entriesOf(draft: Draft): readonly Entry[] {
  return Array.isArray(draft) ? draft.filter((item) => typeof item === 'object') : []
}

/** Returns an empty input. */
export function emptyDraft(kind: FieldKind): Draft {
  switch (kind.type) {
    case 'flag':
      return false
    case 'choices':
      return []
    case 'entries':
      return [{ name: '', value: '' }]
    default:
      return ''
  }
}
