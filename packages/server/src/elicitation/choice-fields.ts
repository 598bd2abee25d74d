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
import {
  allowOnly,
  boundedText,
  type Field,
  labelsOf,
  longestLabel,
  invalidField,
  present,
  rangeOf,
  fieldError,
  resolveField,
} from './field.ts'
import { bareOptions, isChoice, type Option, optionKeywords, fieldOptions, titledOptions } from './options.ts'

const words = ['type', 'title', 'description', 'default']

/** A choice of one, in the form that its titles call for (client/elicitation, enum schema). */
export function singleSelect(field: Field): EnumSchema {
  const legacy = field.schema['enum'] !== undefined ? ['enumNames'] : []
  const options = fieldOptions(field)
  allowOnly(field, 'a choice of one', [...words, ...optionKeywords, ...legacy])
  const { type } = field.schema
  if (type !== undefined && type !== 'string') throw fieldError(field, 'the type of a choice of one has to be "string"')
  const given = field.schema['default']
  const chosen = options.find(({ value }) => value === given)?.value
  if (given !== undefined && chosen === undefined) throw invalidField(field, 'one of the values to choose')
  const enumNames = enumNamesOf(field, options)
  if (enumNames !== undefined) return withNames(field, { options, enumNames, default: chosen })
  return withOptions(field, options, chosen)
}

function withOptions(field: Field, options: readonly Option[], chosen: string | undefined): SingleSelectEnumSchema {
  const start = { type: 'string', ...labelsOf(field) } as const
  return isTitled(options)
    ? present<TitledSingleSelectEnumSchema>({ ...start, oneOf: titledOptions(options), default: chosen })
    : present<UntitledSingleSelectEnumSchema>({ ...start, enum: bareOptions(options), default: chosen })
}

interface Named {
  readonly options: readonly Option[]
  readonly enumNames: readonly string[]
  readonly default: string | undefined
}

/** The revision still has the older form, so an author who wrote it has a reason: it goes out as it is. */
function withNames(field: Field, { options, enumNames, default: chosen }: Named): LegacyTitledEnumSchema {
  return present<LegacyTitledEnumSchema>({
    type: 'string',
    ...labelsOf(field),
    enum: bareOptions(options),
    enumNames,
    default: chosen,
  })
}

function enumNamesOf(field: Field, options: readonly Option[]): readonly string[] | undefined {
  const names = field.schema['enumNames']
  if (names === undefined) return undefined
  if (!Array.isArray(names) || names.length !== options.length) {
    throw fieldError(field, `"enumNames" has to be an array of ${options.length} strings, one for each value of "enum"`)
  }
  return Object.freeze(
    names.map((name) => {
      if (typeof name !== 'string') throw fieldError(field, '"enumNames" has to hold strings only')
      return boundedText(field, name, { what: 'one of "enumNames"', longest: longestLabel })
    }),
  )
}

/** A choice of several, in the form that its titles call for (client/elicitation, enum schema). */
export function multiSelect(field: Field): MultiSelectEnumSchema {
  allowOnly(field, 'a choice of several', [...words, 'items', 'minItems', 'maxItems'])
  const options = itemOptions(field)
  const [minItems, maxItems] = isAnswerable(field, options.length)
  const start = { type: 'array', ...labelsOf(field), minItems, maxItems } as const
  const chosen = chosenOf(field, options, { least: minItems ?? 0, most: maxItems ?? options.length })
  if (isTitled(options)) {
    const items = Object.freeze({ anyOf: titledOptions(options) })
    return present<TitledMultiSelectEnumSchema>({ ...start, items, default: chosen })
  }
  const items = Object.freeze({ type: 'string', enum: bareOptions(options) } as const)
  return present<UntitledMultiSelectEnumSchema>({ ...start, items, default: chosen })
}

function itemOptions(field: Field): readonly Option[] {
  const { items } = field.schema
  const only = 'an array has to be a choice of several strings, as z.array(z.enum([…])) is'
  if (!isJsonObject(items)) throw fieldError(field, only)
  const item = resolveField({ ...field, schema: items, where: `${field.where}, items` })
  if (!isChoice(item)) throw fieldError(field, only)
  const options = fieldOptions(item)
  allowOnly(item, 'an item', ['type', ...optionKeywords])
  if (item.schema['type'] !== undefined && item.schema['type'] !== 'string') throw fieldError(field, only)
  return options
}

/** Each value is chosen at most once, so a form that wants more than there are could never be sent. */
function isAnswerable(field: Field, count: number): [number | undefined, number | undefined] {
  const [least, most] = rangeOf(field, 'minItems', 'maxItems')
  if ((least ?? 0) <= count) return [least, most]
  throw fieldError(field, `"minItems" is ${least}, but there are ${count} values to choose from`)
}

function chosenOf(
  field: Field,
  options: readonly Option[],
  { least, most }: { least: number; most: number },
): readonly string[] | undefined {
  const given = field.schema['default']
  if (given === undefined) return undefined
  const listed: readonly unknown[] = Array.isArray(given) ? given : []
  const chosen = options.map(({ value }) => value).filter((value) => listed.includes(value))
  const fits =
    Array.isArray(given) && chosen.length === listed.length && listed.length >= least && listed.length <= most
  if (!fits) throw invalidField(field, 'an array of the values to choose, each once, and as many as are allowed')
  return Object.freeze(chosen)
}

function isTitled(options: readonly Option[]): boolean {
  return options.some(({ title }) => title !== undefined)
}
