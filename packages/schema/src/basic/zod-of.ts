import * as z from 'zod/mini'
import { isJson, isJsonObject } from '@x/core'
import type { Description, LeafKind, Shape } from './shape.ts'

/** A validator of `zod/mini` for a wire type. */
export interface ZodOf<T> extends z.ZodMiniType<T> {}

/** Makes the zod validator of a wire type from its shape. The same shape always gives the same validator. */
export function zodOf<T>(shape: Shape<T>): ZodOf<T> {
  // The cast is safe: the shape describes a T, and the tests compare each validator with the published schema.
  return deriveValidator(shape) as ZodOf<T>
}

const derivedValidators = new WeakMap<Description, z.ZodMiniType>()

function deriveValidator(description: Description): z.ZodMiniType {
  const cachedValidator = derivedValidators.get(description)
  if (cachedValidator !== undefined) return cachedValidator
  const validator = createZodValidator(description)
  derivedValidators.set(description, validator)
  return validator
}

function createZodValidator(description: Description): z.ZodMiniType {
  switch (description.kind) {
    case 'words':
      return z.literal([...description.literals])
    case 'optional':
      return z.optional(deriveValidator(description.of))
    case 'map':
      return z.record(z.string(), deriveValidator(description.of))
    case 'list': {
      const arrayValidator = z.array(deriveValidator(description.of))
      return description.maxLength === undefined
        ? arrayValidator
        : arrayValidator.check(z.maxLength(description.maxLength))
    }
    case 'object': {
      const members = Object.entries(description.members).map(([key, member]) => [key, deriveValidator(member)])
      const objectValidator = z.looseObject(Object.fromEntries(members))
      return description.isOpen ? z.catchall(objectValidator, leafValidators.jsonValue) : objectValidator
    }
    case 'union':
      return z.union(description.of.map(deriveValidator))
    default:
      return leafValidators[description.kind]
  }
}

const leafValidators: { readonly [kind in LeafKind]: z.ZodMiniType } = {
  string: z.string(),
  boolean: z.boolean(),
  integer: z.int(),
  number: z.number(),
  numberFromZeroToOne: z.number().check(z.minimum(0), z.maximum(1)),
  duration: z.int().check(z.minimum(0)),
  stringOrInteger: z.union([z.string(), z.int()]),
  integerOrNull: z.nullable(z.int()),
  formValue: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
  jsonValue: z.custom((value) => isJson(value), 'expected a JSON value'),
  jsonObject: z.custom((value) => isJsonObject(value) && isJson(value), 'expected a JSON object'),
  jsonArray: z.custom((value) => Array.isArray(value) && isJson(value), 'expected a JSON array'),
}
