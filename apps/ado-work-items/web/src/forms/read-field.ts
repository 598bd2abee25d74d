import type { JsonValue } from '@x/schema'
import {
  type ChoicesKind,
  chosenOf,
  type Draft,
  type Field,
  type NumberKind,
  type Option,
  type TextKind,
  textOf,
} from './field.ts'
import { showCount } from '../units.ts'
import type { FieldReading } from './field-reading.ts'
import { readEntries } from './read-entries.ts'
import { fromLocalMoment } from './moment.ts'

/** Reads what somebody filled in. Issues are sentences for that person. */
export function readField({ kind, required }: Field, draft: Draft): FieldReading {
  const reading = readKind(kind, draft)
  return reading === 'empty' && required ? { issue: missing(kind) } : reading
}

function readKind(kind: Field['kind'], draft: Draft): FieldReading {
  switch (kind.type) {
    case 'flag':
      return { value: draft === true }
    case 'text':
      return readText(kind, textOf(draft))
    case 'number':
      return readNumber(kind, textOf(draft).trim())
    case 'choice':
      return readChoice(kind.options, textOf(draft))
    case 'choices':
      return readChoices(kind, chosenOf(draft))
    case 'ids':
      return readIds(chosenOf(draft))
    case 'entries':
      return readEntries(draft)
    default:
      return readJson(textOf(draft).trim())
  }
}

function missing({ type }: Field['kind']): string {
  if (type === 'choice') return 'Choose one of the options.'
  if (type === 'choices' || type === 'ids') return 'Choose at least one of the options.'
  return type === 'entries' ? 'Give at least one field and its value.' : 'Fill this in.'
}

function readText(
  { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: TextKind,
  text: string,
): FieldReading {
  if (text === '') return 'empty'
  const length = [...text].length
  if (length < minLength) return { issue: `Write at least ${showCount(minLength, 'character')}; this has ${length}.` }
  if (length > maxLength) return { issue: `Write at most ${showCount(maxLength, 'character')}; this has ${length}.` }
  return format === undefined ? { value: text } : formats[format](text)
}

const formats: Readonly<Record<NonNullable<TextKind['format']>, (text: string) => FieldReading>> = {
  date: (text) => (isDay(text) ? { value: text } : { issue: 'Give a date, such as 2026-07-28.' }),
  'date-time': (text) => {
    const value = fromLocalMoment(text)
    return value === undefined ? { issue: 'Give a date and a time, such as 2026-07-28, 14:30.' } : { value }
  },
  email: (text) =>
    /^[^\s@]+@[^\s@]+$/.test(text) ? { value: text } : { issue: 'Give an e-mail address, such as ada@example.com.' },
  uri: (text) =>
    URL.canParse(text) ? { value: text } : { issue: 'Give a whole address, such as https://example.com/page.' },
}

function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // Date.parse takes 30 February for 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function readNumber({ whole, minimum, maximum }: NumberKind, text: string): FieldReading {
  if (text === '') return 'empty'
  const value = Number(text)
  if (!Number.isFinite(value)) return { issue: 'Write a number, such as 42.' }
  if (whole && !Number.isSafeInteger(value)) return { issue: 'Write a whole number, such as 42.' }
  if (minimum !== undefined && value < minimum) return { issue: `Write a number of at least ${minimum}.` }
  if (maximum !== undefined && value > maximum) return { issue: `Write a number of at most ${maximum}.` }
  return { value }
}

function readChoice(options: readonly Option[], chosen: string): FieldReading {
  if (chosen === '') return 'empty'
  return options.some(({ value }) => value === chosen) ? { value: chosen } : { issue: 'Choose one of the options.' }
}

function readIds(chosen: readonly string[]): FieldReading {
  return chosen.length === 0 ? 'empty' : { value: chosen.map(Number) }
}

function readChoices(kind: ChoicesKind, chosen: readonly string[]): FieldReading {
  const { options, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = kind
  if (chosen.length === 0 && minItems === 0) return 'empty'
  if (chosen.length < minItems) return { issue: `Choose at least ${showCount(minItems, 'option')}.` }
  if (chosen.length > maxItems) return { issue: `Choose at most ${showCount(maxItems, 'option')}.` }
  // In the order of the options, whatever order they were ticked in.
  return { value: options.map(({ value }) => value).filter((value) => chosen.includes(value)) }
}

function readJson(text: string): FieldReading {
  if (text === '') return 'empty'
  try {
    const value: JsonValue = JSON.parse(text)
    return { value }
  } catch {
    return { issue: 'Write this as JSON, such as ["a", 1] or {"name": "value"}.' }
  }
}
