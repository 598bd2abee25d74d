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

/** A number field of a form (client/elicitation, requested schema). */
export type NumberSchema = {
  readonly type: 'integer' | 'number'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly default?: number | undefined
}

/** A yes-or-no field of a form (client/elicitation, requested schema). */
export type BooleanSchema = {
  readonly type: 'boolean'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly default?: boolean | undefined
}

/** A single choice among untitled values (client/elicitation, requested schema). */
export type UntitledSingleSelectEnumSchema = {
  readonly type: 'string'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly enum: readonly string[]
  readonly default?: string | undefined
}

/** A selectable value with its title (client/elicitation, requested schema). */
export type TitledOption = {
  readonly const: string
  readonly title: string
}

/** A single choice among titled values (client/elicitation, requested schema). */
export type TitledSingleSelectEnumSchema = {
  readonly type: 'string'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly oneOf: readonly TitledOption[]
  readonly default?: string | undefined
}

/** A multiple choice among untitled values (client/elicitation, requested schema). */
export type UntitledMultiSelectEnumSchema = {
  readonly type: 'array'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly items: { readonly type: 'string'; readonly enum: readonly string[] }
  readonly default?: readonly string[] | undefined
}

/** A multiple choice among titled values (client/elicitation, requested schema). */
export type TitledMultiSelectEnumSchema = {
  readonly type: 'array'
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly items: { readonly anyOf: readonly TitledOption[] }
  readonly default?: readonly string[] | undefined
}

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
  /** Titles in the order of `enum`. */
  readonly enumNames?: readonly string[] | undefined
  readonly default?: string | undefined
}

/** A single choice (client/elicitation, requested schema). */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema

/** A multiple choice (client/elicitation, requested schema). */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema

/** A choice, in any of its forms (client/elicitation, requested schema). */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema

/** One field of a form: a form has no objects within objects (client/elicitation, requested schema). */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema
