import { quoteText } from '@x/core'
import { isJsonObject, type JsonValue, type TitledOption } from '@x/schema'
import {
  rejectOtherKeywords,
  requireTextLength,
  type Field,
  maxLabelLength,
  fieldError,
  resolveField,
  readTextKeyword,
} from './field.ts'

/** A value that a user can choose, with an optional title. */
export interface ChoiceOption {
  readonly value: string
  readonly title: string | undefined
}

/** Keywords that list the options of a choice, which has exactly one of them. */
export const optionKeywords = ['const', 'enum', 'oneOf', 'anyOf'] as const

/** A person does not read a longer list of options. */
const maxOptions = 500

export function isChoice({ schema }: Field): boolean {
  return optionKeywords.some((keyword) => schema[keyword] !== undefined)
}

/** Reads the options from one value, a list of values, or a union of these with or without titles. */
export function choiceOptionsOf(field: Field): readonly ChoiceOption[] {
  const [keyword, secondKeyword] = optionKeywords.filter((optionKeyword) => field.schema[optionKeyword] !== undefined)
  if (keyword === undefined || secondKeyword !== undefined) {
    throw fieldError(field, `a choice has exactly one of ${optionKeywords.join(', ')}`)
  }
  const listedValues = field.schema[keyword]
  if (keyword === 'const') return requireDistinctOptions(field, [createUntitledOption(field, listedValues ?? null)])
  if (!Array.isArray(listedValues)) throw fieldError(field, `"${keyword}" must be an array`)
  if (listedValues.some((item) => isJsonObject(item) && item['type'] === 'null')) throw fieldError(field, nullAdvice)
  return requireDistinctOptions(
    field,
    listedValues.flatMap((item) =>
      keyword === 'enum' ? [createUntitledOption(field, item)] : readBranchOptions(field, item),
    ),
  )
}

/** The protocol's list with titles. An option without one gets its value as the title. */
export function toTitledOptions(options: readonly ChoiceOption[]): readonly TitledOption[] {
  return Object.freeze(options.map(({ value, title }) => Object.freeze({ const: value, title: title ?? value })))
}

export function optionValues(options: readonly ChoiceOption[]): readonly string[] {
  return Object.freeze(options.map(({ value }) => value))
}

function createUntitledOption(field: Field, value: JsonValue): ChoiceOption {
  if (typeof value === 'string') {
    return {
      value: requireTextLength(field, value, { textName: 'a value to choose', maxTextLength: maxLabelLength }),
      title: undefined,
    }
  }
  if (value === null) throw fieldError(field, nullAdvice)
  const stringAdvice = 'only strings can be chosen from: list them as strings, and turn them with transform()'
  throw fieldError(
    field,
    `${quoteText(value)} is among the values; ${stringAdvice}${value === true ? ', or ask for a boolean' : ''}`,
  )
}

/** Advises on a field that may be null. */
export const nullAdvice =
  'no field of a form can be null; make it optional, then it is absent when the user leaves it empty'

function readBranchOptions(field: Field, branchSchema: JsonValue): readonly ChoiceOption[] {
  if (!isJsonObject(branchSchema)) throw fieldError(field, `${quoteText(branchSchema)} is not a value to choose`)
  const branchField = resolveField({ ...field, schema: branchSchema })
  if (branchField.schema['const'] === undefined && branchField.schema['enum'] === undefined) {
    throw fieldError(field, 'a union can only be of literal strings; other types make one property each')
  }
  rejectOtherKeywords(branchField, 'a value to choose', ['type', 'const', 'enum', 'title'])
  const [firstOption, ...otherOptions] = choiceOptionsOf(branchField)
  const title = readTextKeyword(branchField, 'title', maxLabelLength)
  if (firstOption === undefined || title === undefined)
    return firstOption === undefined ? [] : [firstOption, ...otherOptions]
  if (otherOptions.length > 0)
    throw fieldError(field, `the title ${quoteText(title)} is that of several values; give each its own`)
  return [{ ...firstOption, title }]
}

function requireDistinctOptions(field: Field, options: readonly ChoiceOption[]): readonly ChoiceOption[] {
  if (options.length === 0) throw fieldError(field, 'there are no values to choose from; list at least one')
  if (options.length > maxOptions) {
    throw fieldError(field, `there are ${options.length} values to choose from; at most ${maxOptions} are allowed`)
  }
  const seenValues = new Set<string>()
  for (const { value } of options) {
    if (seenValues.has(value)) throw fieldError(field, `the value ${quoteText(value)} is listed twice`)
    seenValues.add(value)
  }
  return options
}
