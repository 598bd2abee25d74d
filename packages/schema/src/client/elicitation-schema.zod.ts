import * as z from 'zod'
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

const fieldShape = { title: z.string().optional(), description: z.string().optional() }
const strings = z.array(z.string())

/** Validates a {@link StringSchema}. */
export const stringSchema: z.ZodType<StringSchema> = z.looseObject({
  ...fieldShape,
  type: z.literal('string'),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  format: z.enum(['date', 'date-time', 'email', 'uri']).optional(),
  default: z.string().optional(),
})

/** Validates a {@link NumberSchema}. */
export const numberSchema: z.ZodType<NumberSchema> = z.looseObject({
  ...fieldShape,
  type: z.enum(['integer', 'number']),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
})

/** Validates a {@link BooleanSchema}. */
export const booleanSchema: z.ZodType<BooleanSchema> = z.looseObject({
  ...fieldShape,
  type: z.literal('boolean'),
  default: z.boolean().optional(),
})

const singleShape = { ...fieldShape, type: z.literal('string'), default: z.string().optional() }

/** Validates an {@link UntitledSingleSelectEnumSchema}. */
export const untitledSingleSelectEnumSchema: z.ZodType<UntitledSingleSelectEnumSchema> = z.looseObject({
  ...singleShape,
  enum: strings,
})

const options = z.array(z.looseObject({ const: z.string(), title: z.string() }))

/** Validates a {@link TitledSingleSelectEnumSchema}. */
export const titledSingleSelectEnumSchema: z.ZodType<TitledSingleSelectEnumSchema> = z.looseObject({
  ...singleShape,
  oneOf: options,
})

/** Validates a {@link LegacyTitledEnumSchema}. */
export const legacyTitledEnumSchema: z.ZodType<LegacyTitledEnumSchema> = z.looseObject({
  ...singleShape,
  enum: strings,
  enumNames: strings.optional(),
})

const multiShape = {
  ...fieldShape,
  type: z.literal('array'),
  minItems: z.int().optional(),
  maxItems: z.int().optional(),
  default: strings.optional(),
}

/** Validates an {@link UntitledMultiSelectEnumSchema}. */
export const untitledMultiSelectEnumSchema: z.ZodType<UntitledMultiSelectEnumSchema> = z.looseObject({
  ...multiShape,
  items: z.looseObject({ type: z.literal('string'), enum: strings }),
})

/** Validates a {@link TitledMultiSelectEnumSchema}. */
export const titledMultiSelectEnumSchema: z.ZodType<TitledMultiSelectEnumSchema> = z.looseObject({
  ...multiShape,
  items: z.looseObject({ anyOf: options }),
})

/** Validates a {@link SingleSelectEnumSchema}. */
export const singleSelectEnumSchema: z.ZodType<SingleSelectEnumSchema> = z.union([
  untitledSingleSelectEnumSchema,
  titledSingleSelectEnumSchema,
])

/** Validates a {@link MultiSelectEnumSchema}. */
export const multiSelectEnumSchema: z.ZodType<MultiSelectEnumSchema> = z.union([
  untitledMultiSelectEnumSchema,
  titledMultiSelectEnumSchema,
])

/** Validates an {@link EnumSchema}. */
export const enumSchema: z.ZodType<EnumSchema> = z.union([
  singleSelectEnumSchema,
  multiSelectEnumSchema,
  legacyTitledEnumSchema,
])

/** Validates a {@link PrimitiveSchemaDefinition}. */
export const primitiveSchemaDefinition: z.ZodType<PrimitiveSchemaDefinition> = z.union([
  stringSchema,
  numberSchema,
  booleanSchema,
  enumSchema,
])
