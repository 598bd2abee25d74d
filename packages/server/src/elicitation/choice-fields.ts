import {
  type EnumSchema,
  isJsonObject,
  type LegacyTitledEnumSchema,
  type MultiSelectEnumSchema,
  type SingleSelectEnumSchema,
  type TitledMultiSelectEnumSchema,
  type TitledSingleSelectEnumSchema,
  type UntitledMultiSelectEnumSchema,
  type UntitledSingleSelectEnumSchema,
} from '@x/schema'
import { describeFieldMismatch, fieldKeywordsOf } from '@x/schema/internal'
import {
  rejectOtherKeywords,
  requireTextLength,
  type Field,
  labelsOf,
  maxLabelLength,
  invalidDefaultError,
  freezeDefinedMembers,
  readCountRange,
  fieldError,
  resolveField,
} from './field.ts'
import {
  optionValues,
  isChoice,
  type ChoiceOption,
  optionKeywords,
  choiceOptionsOf,
  toTitledOptions,
} from './choice-options.ts'

/** A choice of one value. Its schema has titles only if the options have titles (client/elicitation, enum schema). */
export function compileSingleSelect(field: Field): EnumSchema {
  const legacyKeywords = field.schema['enum'] !== undefined ? ['enumNames'] : []
  const options = choiceOptionsOf(field)
  rejectOtherKeywords(field, 'a choice of one', [...fieldKeywordsOf('choice'), ...optionKeywords, ...legacyKeywords])
  const { type } = field.schema
  if (type !== undefined && type !== 'string') throw fieldError(field, 'the type of a choice of one must be "string"')
  const defaultValue = field.schema['default']
  const defaultChoice = options.find(({ value }) => value === defaultValue)?.value
  if (defaultValue !== undefined && defaultChoice === undefined)
    throw invalidDefaultError(field, 'one of the values to choose')
  const enumNames = enumNamesOf(field, options)
  if (enumNames !== undefined) return createNamedEnumSchema(field, options, enumNames, defaultChoice)
  return createEnumSchema(field, options, defaultChoice)
}

function createEnumSchema(
  field: Field,
  options: readonly ChoiceOption[],
  defaultChoice: string | undefined,
): SingleSelectEnumSchema {
  const baseSchema = { type: 'string', ...labelsOf(field) } as const
  return isTitled(options)
    ? freezeDefinedMembers<TitledSingleSelectEnumSchema>({
        ...baseSchema,
        oneOf: toTitledOptions(options),
        default: defaultChoice,
      })
    : freezeDefinedMembers<UntitledSingleSelectEnumSchema>({
        ...baseSchema,
        enum: optionValues(options),
        default: defaultChoice,
      })
}

/**
 * Writes the older schema with `enumNames`, which the protocol still has. An author who writes it probably has a
 * reason, so it is sent unchanged.
 */
function createNamedEnumSchema(
  field: Field,
  options: readonly ChoiceOption[],
  enumNames: readonly string[],
  defaultChoice: string | undefined,
): LegacyTitledEnumSchema {
  return freezeDefinedMembers<LegacyTitledEnumSchema>({
    type: 'string',
    ...labelsOf(field),
    enum: optionValues(options),
    enumNames,
    default: defaultChoice,
  })
}

function enumNamesOf(field: Field, options: readonly ChoiceOption[]): readonly string[] | undefined {
  const names = field.schema['enumNames']
  if (names === undefined) return undefined
  if (!Array.isArray(names) || names.length !== options.length) {
    throw fieldError(field, `"enumNames" must be an array of ${options.length} strings, one for each value of "enum"`)
  }
  return Object.freeze(
    names.map((name) => {
      if (typeof name !== 'string') throw fieldError(field, '"enumNames" must hold strings only')
      return requireTextLength(field, name, { textName: 'one of "enumNames"', maxTextLength: maxLabelLength })
    }),
  )
}

/**
 * A choice of several values. Its schema has titles only if the options have titles (client/elicitation, enum schema).
 */
export function compileMultiSelect(field: Field): MultiSelectEnumSchema {
  rejectOtherKeywords(field, 'a choice of several', fieldKeywordsOf('choices'))
  const options = readItemOptions(field)
  const [minItems, maxItems] = readItemCountRange(field, options.length)
  const baseSchema = { type: 'array', ...labelsOf(field), minItems, maxItems } as const
  const defaultChoices = defaultChoicesOf(field, options, { minItems, maxItems })
  if (isTitled(options)) {
    const items = Object.freeze({ anyOf: toTitledOptions(options) })
    return freezeDefinedMembers<TitledMultiSelectEnumSchema>({ ...baseSchema, items, default: defaultChoices })
  }
  const items = Object.freeze({ type: 'string', enum: optionValues(options) } as const)
  return freezeDefinedMembers<UntitledMultiSelectEnumSchema>({ ...baseSchema, items, default: defaultChoices })
}

function readItemOptions(field: Field): readonly ChoiceOption[] {
  const { items } = field.schema
  const choiceAdvice = 'an array must be a choice of several strings, as z.array(z.enum([…])) is'
  if (!isJsonObject(items)) throw fieldError(field, choiceAdvice)
  const itemField = resolveField({ ...field, schema: items, location: `${field.location}, items` })
  if (!isChoice(itemField)) throw fieldError(field, choiceAdvice)
  const options = choiceOptionsOf(itemField)
  rejectOtherKeywords(itemField, 'an item', ['type', ...optionKeywords])
  if (itemField.schema['type'] !== undefined && itemField.schema['type'] !== 'string')
    throw fieldError(field, choiceAdvice)
  return options
}

/**
 * How many values may be chosen. A minimum above the number of options is rejected, because a user can choose each
 * option only once.
 */
function readItemCountRange(field: Field, optionCount: number): [number | undefined, number | undefined] {
  const [minimum, maximum] = readCountRange(field, 'minItems', 'maxItems')
  if ((minimum ?? 0) <= optionCount) return [minimum, maximum]
  throw fieldError(field, `"minItems" is ${minimum}, but there are ${optionCount} values to choose from`)
}

function defaultChoicesOf(
  field: Field,
  options: readonly ChoiceOption[],
  countRange: Pick<MultiSelectEnumSchema, 'minItems' | 'maxItems'>,
): readonly string[] | undefined {
  const defaultItems = field.schema['default']
  if (defaultItems === undefined) return undefined
  const values = optionValues(options)
  const definition = { type: 'array', items: { type: 'string', enum: values }, ...countRange } as const
  if (
    !Array.isArray(defaultItems) ||
    new Set(defaultItems).size < defaultItems.length ||
    describeFieldMismatch(definition, defaultItems) !== undefined
  )
    throw invalidDefaultError(field, 'an array of the values to choose, each once, and as many as are allowed')
  return Object.freeze(values.filter((value) => defaultItems.includes(value)))
}

function isTitled(options: readonly ChoiceOption[]): boolean {
  return options.some(({ title }) => title !== undefined)
}
