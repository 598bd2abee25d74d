import { quoteText } from '@x/core'
import type { BooleanSchema, NumberSchema, StringSchema } from '@x/schema'
import { describeFieldMismatch, fieldKeywordsOf, textFormats } from '@x/schema/internal'
import {
  rejectOtherKeywords,
  type Field,
  requireNonEmptyRange,
  labelsOf,
  maxLabelLength,
  maxFieldTextLength,
  invalidDefaultError,
  freezeDefinedMembers,
  readCountRange,
  fieldError,
  readTextKeyword,
} from './field.ts'

/** A text field (client/elicitation, string schema). */
export function compileTextField(field: Field): StringSchema {
  const format = readFormat(field)
  const allowedKeywords = fieldKeywordsOf('string')
  // Schema libraries add a pattern for a format. It is omitted, because the client needs only the format and the schema
  // still checks the answer.
  rejectOtherKeywords(field, 'a string', format === undefined ? allowedKeywords : [...allowedKeywords, 'pattern'])
  const [minLength, maxLength] = readCountRange(field, 'minLength', 'maxLength')
  const defaultText = defaultTextOf(field, { type: 'string', minLength, maxLength })
  return freezeDefinedMembers<StringSchema>({
    type: 'string',
    ...labelsOf(field),
    minLength,
    maxLength,
    format,
    default: defaultText,
  })
}

function defaultTextOf(field: Field, lengthRule: StringSchema): string | undefined {
  if (field.schema['default'] === undefined) return undefined
  if (typeof field.schema['default'] !== 'string') throw invalidDefaultError(field, 'a string')
  const defaultText = readTextKeyword(field, 'default', maxFieldTextLength)
  if (describeFieldMismatch(lengthRule, defaultText) !== undefined)
    throw invalidDefaultError(field, 'a string of the allowed length')
  return defaultText
}

function readFormat(field: Field): StringSchema['format'] {
  const declaredFormat = readTextKeyword(field, 'format', maxLabelLength)
  const format = textFormats.find((candidateFormat) => candidateFormat === declaredFormat)
  if (declaredFormat === undefined || format !== undefined) return format
  const formatAdvice =
    declaredFormat === 'password'
      ? 'a secret must never be asked for in a form, but on a page of yours (URL mode)'
      : 'say in the description what is wanted, and check it in the handler or, with zod, in refine()'
  throw fieldError(
    field,
    `the format ${quoteText(declaredFormat)} cannot be sent to clients, only ${textFormats.join(', ')}; ${formatAdvice}`,
  )
}

/** A number field (client/elicitation, number schema). */
export function compileNumberField(field: Field, type: 'integer' | 'number'): NumberSchema {
  const exclusiveKeywords = type === 'integer' ? ['exclusiveMinimum', 'exclusiveMaximum'] : []
  rejectOtherKeywords(field, type === 'integer' ? 'an integer' : 'a number', [
    ...fieldKeywordsOf('number'),
    ...exclusiveKeywords,
  ])
  const [minimum, maximum] = requireNonEmptyRange(
    field,
    type === 'integer' ? readIntegerBounds(field) : readBounds(field),
  )
  const defaultValue = field.schema['default']
  if (defaultValue !== undefined && describeFieldMismatch({ type, minimum, maximum }, defaultValue) !== undefined)
    throw invalidDefaultError(field, `${type === 'integer' ? 'an integer' : 'a number'} within the bounds`)
  return freezeDefinedMembers<NumberSchema>({
    type,
    ...labelsOf(field),
    minimum,
    maximum,
    default: readNumberKeyword(field, 'default'),
  })
}

type Bounds = readonly [minimum: number | undefined, maximum: number | undefined]

function readBounds(field: Field): Bounds {
  return [readNumberKeyword(field, 'minimum'), readNumberKeyword(field, 'maximum')]
}

/**
 * Makes an integer's bounds inclusive: more than 2 becomes at least 3. Bounds at the limits of safe integers are
 * omitted, because they are useless to a user.
 */
function readIntegerBounds(field: Field): Bounds {
  const [minimum = -Infinity, maximum = Infinity] = readBounds(field)
  const exclusiveMin = readNumberKeyword(field, 'exclusiveMinimum') ?? -Infinity
  const exclusiveMax = readNumberKeyword(field, 'exclusiveMaximum') ?? Infinity
  const minInteger = Math.max(Math.ceil(minimum), Math.floor(exclusiveMin) + 1)
  const maxInteger = Math.min(Math.floor(maximum), Math.ceil(exclusiveMax) - 1)
  return [
    minInteger > Number.MIN_SAFE_INTEGER ? minInteger : undefined,
    maxInteger < Number.MAX_SAFE_INTEGER ? maxInteger : undefined,
  ]
}

function readNumberKeyword(field: Field, keyword: string): number | undefined {
  const value = field.schema[keyword]
  if (value === undefined || typeof value === 'number') return value
  throw fieldError(field, `"${keyword}" is ${quoteText(value)}; it must be a number`)
}

/** A boolean field (client/elicitation, boolean schema). */
export function compileBooleanField(field: Field): BooleanSchema {
  rejectOtherKeywords(field, 'a boolean', fieldKeywordsOf('boolean'))
  const defaultValue = field.schema['default']
  if (defaultValue !== undefined && typeof defaultValue !== 'boolean') throw invalidDefaultError(field, 'true or false')
  return freezeDefinedMembers<BooleanSchema>({ type: 'boolean', ...labelsOf(field), default: defaultValue })
}
