import type { BooleanSchema, NumberSchema, StringSchema } from '@x/schema'
import {
  allowOnly,
  type Field,
  areOrdered,
  labelsOf,
  longestLabel,
  longestText,
  invalidField,
  present,
  rangeOf,
  fieldError,
  shownJson,
  textAt,
} from './field.ts'

/** A text of a form (client/elicitation, string schema). */
export function textField(field: Field): StringSchema {
  const format = formatOf(field)
  const words = ['type', 'title', 'description', 'minLength', 'maxLength', 'format', 'default']
  // Libraries check a format by a pattern of their own. The format tells the user as much, and the schema still checks.
  allowOnly(field, 'a string', format === undefined ? words : [...words, 'pattern'])
  const [minLength, maxLength] = rangeOf(field, 'minLength', 'maxLength')
  const given = defaultText(field, { least: minLength ?? 0, most: maxLength ?? Infinity })
  return present<StringSchema>({ type: 'string', ...labelsOf(field), minLength, maxLength, format, default: given })
}

function defaultText(field: Field, { least, most }: { least: number; most: number }): string | undefined {
  if (field.schema['default'] === undefined) return undefined
  if (typeof field.schema['default'] !== 'string') throw invalidField(field, 'a string')
  const given = textAt(field, 'default', longestText)
  // JSON Schema counts characters, and not UTF-16 units.
  const size = [...(given ?? '')].length
  if (size < least || size > most) throw invalidField(field, 'a string of the allowed length')
  return given
}

const formats = ['email', 'uri', 'date', 'date-time'] as const

function formatOf(field: Field): StringSchema['format'] {
  const given = textAt(field, 'format', longestLabel)
  const format = formats.find((known) => known === given)
  if (given === undefined || format !== undefined) return format
  const instead =
    given === 'password'
      ? 'a secret must never be asked for in a form, but on a page of yours (URL mode)'
      : 'say in the description what is wanted, and check it in the handler or, with zod, in refine()'
  throw fieldError(
    field,
    `the format ${shownJson(given)} cannot be sent to clients, only ${formats.join(', ')}; ${instead}`,
  )
}

/** A number of a form (client/elicitation, number schema). */
export function numberField(field: Field, type: 'integer' | 'number'): NumberSchema {
  const words = ['type', 'title', 'description', 'minimum', 'maximum', 'default']
  const exclusive = type === 'integer' ? ['exclusiveMinimum', 'exclusiveMaximum'] : []
  allowOnly(field, type === 'integer' ? 'an integer' : 'a number', [...words, ...exclusive])
  const [minimum, maximum] = areOrdered(field, type === 'integer' ? wholeBounds(field) : bounds(field))
  const given = field.schema['default']
  if (given !== undefined && !fits(given, { type, minimum, maximum }))
    throw invalidField(field, `${type === 'integer' ? 'an integer' : 'a number'} within the bounds`)
  return present<NumberSchema>({
    type,
    ...labelsOf(field),
    minimum,
    maximum,
    default: numberAt(field, 'default'),
  })
}

type Bounds = readonly [minimum: number | undefined, maximum: number | undefined]

function bounds(field: Field): Bounds {
  return [numberAt(field, 'minimum'), numberAt(field, 'maximum')]
}

/** For integers, what must be more than 2 is at least 3. Bounds that only say what a double can hold tell a user nothing. */
function wholeBounds(field: Field): Bounds {
  const [minimum = -Infinity, maximum = Infinity] = bounds(field)
  const above = numberAt(field, 'exclusiveMinimum') ?? -Infinity
  const below = numberAt(field, 'exclusiveMaximum') ?? Infinity
  const least = Math.max(Math.ceil(minimum), Math.floor(above) + 1)
  const most = Math.min(Math.floor(maximum), Math.ceil(below) - 1)
  return [least > Number.MIN_SAFE_INTEGER ? least : undefined, most < Number.MAX_SAFE_INTEGER ? most : undefined]
}

function numberAt(field: Field, keyword: string): number | undefined {
  const value = field.schema[keyword]
  if (value === undefined || typeof value === 'number') return value
  throw fieldError(field, `"${keyword}" is ${shownJson(value)}; it has to be a number`)
}

function fits(value: unknown, { type, minimum, maximum }: NumberSchema): boolean {
  if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value))) return false
  return value >= (minimum ?? value) && value <= (maximum ?? value)
}

/** A yes or no of a form (client/elicitation, boolean schema). */
export function booleanField(field: Field): BooleanSchema {
  allowOnly(field, 'a boolean', ['type', 'title', 'description', 'default'])
  const given = field.schema['default']
  if (given !== undefined && typeof given !== 'boolean') throw invalidField(field, 'true or false')
  return present<BooleanSchema>({ type: 'boolean', ...labelsOf(field), default: given })
}
