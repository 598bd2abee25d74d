import * as z from 'zod/mini'
import type {
  BooleanSchema,
  EnumSchema,
  LegacyTitledEnumSchema,
  MultiSelectEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  SingleSelectEnumSchema,
  StringSchema,
  TitledMultiSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from './elicitation-schema.ts'

const fieldShape = { title: z.optional(z.string()), description: z.optional(z.string()) }
const strings = z.array(z.string())

/** Validates a {@link StringSchema}. */
export const stringSchema: z.ZodMiniType<StringSchema> = z.looseObject({
  ...fieldShape,
  type: z.literal('string'),
  minLength: z.optional(z.int()),
  maxLength: z.optional(z.int()),
  format: z.optional(z.enum(['date', 'date-time', 'email', 'uri'])),
  default: z.optional(z.string()),
})

/** Validates a {@link NumberSchema}. */
export const numberSchema: z.ZodMiniType<NumberSchema> = z.looseObject({
  ...fieldShape,
  type: z.enum(['integer', 'number']),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  default: z.optional(z.number()),
})

/** Validates a {@link BooleanSchema}. */
export const booleanSchema: z.ZodMiniType<BooleanSchema> = z.looseObject({
  ...fieldShape,
  type: z.literal('boolean'),
  default: z.optional(z.boolean()),
})

const singleShape = { ...fieldShape, type: z.literal('string'), default: z.optional(z.string()) }

/** Validates an {@link UntitledSingleSelectEnumSchema}. */
export const untitledSingleSelectEnumSchema: z.ZodMiniType<UntitledSingleSelectEnumSchema> = z.looseObject({
  ...singleShape,
  enum: strings,
})

const options = z.array(z.looseObject({ const: z.string(), title: z.string() }))

/** Validates a {@link TitledSingleSelectEnumSchema}. */
export const titledSingleSelectEnumSchema: z.ZodMiniType<TitledSingleSelectEnumSchema> = z.looseObject({
  ...singleShape,
  oneOf: options,
})

/** Validates a {@link LegacyTitledEnumSchema}. */
export const legacyTitledEnumSchema: z.ZodMiniType<LegacyTitledEnumSchema> = z.looseObject({
  ...singleShape,
  enum: strings,
  enumNames: z.optional(strings),
})

const multiShape = {
  ...fieldShape,
  type: z.literal('array'),
  minItems: z.optional(z.int()),
  maxItems: z.optional(z.int()),
  default: z.optional(strings),
}

/** Validates an {@link UntitledMultiSelectEnumSchema}. */
export const untitledMultiSelectEnumSchema: z.ZodMiniType<UntitledMultiSelectEnumSchema> = z.looseObject({
  ...multiShape,
  items: z.looseObject({ type: z.literal('string'), enum: strings }),
})

/** Validates a {@link TitledMultiSelectEnumSchema}. */
export const titledMultiSelectEnumSchema: z.ZodMiniType<TitledMultiSelectEnumSchema> = z.looseObject({
  ...multiShape,
  items: z.looseObject({ anyOf: options }),
})

/** Validates a {@link SingleSelectEnumSchema}. */
export const singleSelectEnumSchema: z.ZodMiniType<SingleSelectEnumSchema> = z.union([
  untitledSingleSelectEnumSchema,
  titledSingleSelectEnumSchema,
])

/** Validates a {@link MultiSelectEnumSchema}. */
export const multiSelectEnumSchema: z.ZodMiniType<MultiSelectEnumSchema> = z.union([
  untitledMultiSelectEnumSchema,
  titledMultiSelectEnumSchema,
])

/** Validates an {@link EnumSchema}. */
export const enumSchema: z.ZodMiniType<EnumSchema> = z.union([
  singleSelectEnumSchema,
  multiSelectEnumSchema,
  legacyTitledEnumSchema,
])

/** Validates a {@link PrimitiveSchemaDefinition}. */
export const primitiveSchemaDefinition: z.ZodMiniType<PrimitiveSchemaDefinition> = z.union([
  stringSchema,
  numberSchema,
  booleanSchema,
  enumSchema,
])
