import { isJsonObject } from '@x/core'
import {
  boolean,
  unionByMember,
  integer,
  list,
  number,
  optional,
  type Shape,
  shape,
  string,
  union,
  literal,
} from '../basic/shape.ts'

/** A text field of a form (client/elicitation, requested schema). */
export type StringSchema = {
  readonly type: 'string'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly format?: 'date' | 'date-time' | 'email' | 'uri' | undefined
  readonly default?: string | undefined
}

/** Formats of a text field. */
export const textFormats = ['email', 'uri', 'date', 'date-time'] as const

const fieldMembers = { title: optional(string), description: optional(string) }
const singleSelectMembers = { type: literal('string'), ...fieldMembers, default: optional(string) }

export const stringSchema = shape<StringSchema>({
  type: literal('string'),
  ...fieldMembers,
  minLength: optional(integer),
  maxLength: optional(integer),
  format: optional(literal(...textFormats)),
  default: optional(string),
})

/** A number field of a form (client/elicitation, requested schema). */
export type NumberSchema = {
  readonly type: 'integer' | 'number'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly default?: number | undefined
}

export const numberSchema = shape<NumberSchema>({
  type: literal('integer', 'number'),
  ...fieldMembers,
  minimum: optional(number),
  maximum: optional(number),
  default: optional(number),
})

/** A yes-or-no field of a form (client/elicitation, requested schema). */
export type BooleanSchema = {
  readonly type: 'boolean'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly default?: boolean | undefined
}

export const booleanSchema = shape<BooleanSchema>({
  type: literal('boolean'),
  ...fieldMembers,
  default: optional(boolean),
})

/** Choice of one among untitled values (client/elicitation, requested schema). */
export type UntitledSingleSelectEnumSchema = {
  readonly type: 'string'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly enum: readonly string[]
  readonly default?: string | undefined
}

export const untitledSingleSelectEnumSchema = shape<UntitledSingleSelectEnumSchema>({
  ...singleSelectMembers,
  enum: list(string),
})

/** A selectable value with its title (client/elicitation, requested schema). */
export type TitledOption = {
  readonly const: string
  readonly title: string
}

/** Choice of one among titled values (client/elicitation, requested schema). */
export type TitledSingleSelectEnumSchema = {
  readonly type: 'string'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly oneOf: readonly TitledOption[]
  readonly default?: string | undefined
}

const titledOptions = list(shape<TitledOption>({ const: string, title: string }))

export const titledSingleSelectEnumSchema = shape<TitledSingleSelectEnumSchema>({
  ...singleSelectMembers,
  oneOf: titledOptions,
})

/** Choice of several among untitled values (client/elicitation, requested schema). */
export type UntitledMultiSelectEnumSchema = {
  readonly type: 'array'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly items: { readonly type: 'string'; readonly enum: readonly string[] }
  readonly default?: readonly string[] | undefined
}

const multiSelectMembers = {
  type: literal('array'),
  ...fieldMembers,
  minItems: optional(integer),
  maxItems: optional(integer),
  default: optional(list(string)),
}

export const untitledMultiSelectEnumSchema = shape<UntitledMultiSelectEnumSchema>({
  ...multiSelectMembers,
  items: shape<UntitledMultiSelectEnumSchema['items']>({ type: literal('string'), enum: list(string) }),
})

/** Choice of several among titled values (client/elicitation, requested schema). */
export type TitledMultiSelectEnumSchema = {
  readonly type: 'array'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly items: { readonly anyOf: readonly TitledOption[] }
  readonly default?: readonly string[] | undefined
}

export const titledMultiSelectEnumSchema = shape<TitledMultiSelectEnumSchema>({
  ...multiSelectMembers,
  items: shape<TitledMultiSelectEnumSchema['items']>({ anyOf: titledOptions }),
})

/**
 * A single choice whose titles are in `enumNames`, which JSON Schema does not define (client/elicitation).
 *
 * @deprecated The specification will drop it: use {@link TitledSingleSelectEnumSchema}.
 */
export type LegacyTitledEnumSchema = {
  readonly type: 'string'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly enum: readonly string[]
  /** Titles of the values, in the order of `enum`. */
  readonly enumNames?: readonly string[] | undefined
  readonly default?: string | undefined
}

export const legacyTitledEnumSchema = shape<LegacyTitledEnumSchema>({
  ...singleSelectMembers,
  enum: list(string),
  enumNames: optional(list(string)),
})

/** Choice of one (client/elicitation, requested schema). */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema

export const singleSelectEnumSchema: Shape<SingleSelectEnumSchema> = union([
  untitledSingleSelectEnumSchema,
  titledSingleSelectEnumSchema,
])

/** Choice of several (client/elicitation, requested schema). */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema

export const multiSelectEnumSchema: Shape<MultiSelectEnumSchema> = union(
  [untitledMultiSelectEnumSchema, titledMultiSelectEnumSchema],
  (value) => (isJsonObject(value) && isJsonObject(value['items']) && value['items']['anyOf'] !== undefined ? 1 : 0),
)

/** A choice, in any of its forms (client/elicitation, requested schema). */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema

export const enumSchema: Shape<EnumSchema> = union([
  singleSelectEnumSchema,
  multiSelectEnumSchema,
  legacyTitledEnumSchema,
])

/** One field of a form. A form has no nested objects (client/elicitation, requested schema). */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema

export const primitiveSchemaDefinition = unionByMember<PrimitiveSchemaDefinition, 'type'>('type', {
  string: union([stringSchema, singleSelectEnumSchema, legacyTitledEnumSchema]),
  number: numberSchema,
  integer: numberSchema,
  boolean: booleanSchema,
  array: multiSelectEnumSchema,
})
