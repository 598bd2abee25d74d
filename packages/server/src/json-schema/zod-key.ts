import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isZodSchema, type ZodCheck, type ZodSchema } from './zod-schema.ts'

/** Zod types whose JSON Schema depends only on their definition and metadata, and not on code of the author. */
const comparableTypes: ReadonlySet<string> = new Set(
  (
    'string number boolean null enum literal array object unknown never union ' +
    'optional nonoptional default prefault readonly pipe transform'
  ).split(' '),
)

/** Zod's own checks. One that an author defines may change the JSON Schema when it is attached. */
const comparableChecks: ReadonlySet<unknown> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format overwrite'.split(
    ' ',
  ),
)

/** More parts than any form's schema has. It ends the walk through a schema that contains itself. */
const maxSchemaParts = 2000

/**
 * A zod schema's structure as a text. Two schemas with the same text have the same JSON Schema. Undefined if the JSON
 * Schema may depend on more than the structure.
 *
 * `hasCode` is true if the schema runs code of its author, such as a `refine()`, a `transform()` or a message. That
 * code is not in the text, so two such schemas may validate differently; two others with the same text validate alike.
 */
export function structureKeyOf(schema: object): { readonly text: string; readonly hasCode: boolean } | undefined {
  if (!isZodSchema(schema)) return undefined
  const walk = { remainingParts: maxSchemaParts, hasCode: false }
  try {
    return { text: schemaKey(schema, walk), hasCode: walk.hasCode }
  } catch (error) {
    if (error === incomparableMarker) return undefined
    throw error
  }
}

/** Thrown for a part without a key. An `Error` would waste time on its stack. */
const incomparableMarker = Symbol('opaque')

interface SchemaWalk {
  remainingParts: number
  hasCode: boolean
}

/** Zod types that may compute a value for each validation. The text has the value of now. */
const computedTypes: ReadonlySet<string> = new Set(['default', 'prefault'])

function schemaKey(schema: ZodSchema, walk: SchemaWalk): string {
  const { def } = schema._zod
  if (!comparableTypes.has(def.type) || 'toJSONSchema' in schema._zod) throw incomparableMarker
  if (computedTypes.has(def.type)) walk.hasCode = true
  // Titles and descriptions are in the metadata and not in the definition. Schemas of zod/mini do not provide them.
  if (!('meta' in schema) || typeof schema.meta !== 'function') throw incomparableMarker
  const metadata: unknown = schema.meta()
  return `${membersKey(def, walk)}${metadata === undefined ? '' : valueKeyOf(metadata, walk)}`
}

function membersKey(members: object, walk: SchemaWalk): string {
  let key = '{'
  for (const [name, member] of Object.entries(members)) {
    if (member === undefined) continue
    // A check can itself be a schema. In this list it counts as a check.
    key +=
      name === 'checks' && Array.isArray(member)
        ? `${textKey(name)}[${member.map((check: ZodCheck) => keyOfCheck(check, walk)).join('')}]`
        : textKey(name) + valueKeyOf(member, walk)
  }
  return `${key}}`
}

/** Puts the length in front, so that no text can be mistaken for two parts. */
function textKey(text: string): string {
  return `${text.length}"${text}`
}

function valueKeyOf(value: unknown, walk: SchemaWalk): string {
  if (walk.remainingParts-- === 0) throw incomparableMarker
  if (typeof value !== 'object' || value === null) return keyOfLeaf(value, walk)
  if (Array.isArray(value)) return `[${value.map((item) => valueKeyOf(item, walk)).join()}]`
  if (value instanceof RegExp) return `r${textKey(String(value))}`
  if (isZodSchema(value)) return schemaKey(value, walk)
  if (!hasPlainPrototype(value)) throw incomparableMarker
  return membersKey(value, walk)
}

function keyOfLeaf(value: unknown, walk: SchemaWalk): string {
  if (typeof value === 'string') return textKey(value)
  // As a text, it could be mistaken for a number.
  if (typeof value === 'bigint') throw incomparableMarker
  if (typeof value !== 'function') return `${String(value)},`
  walk.hasCode = true
  return 'f'
}

function hasPlainPrototype(part: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(part)
  return prototype === Object.prototype || prototype === null
}

function keyOfCheck({ _zod: { def, onattach } }: ZodCheck, walk: SchemaWalk): string {
  const isRefinement = def.check === 'custom' && !(Array.isArray(onattach) && onattach.length > 0)
  if (!isRefinement && !comparableChecks.has(def.check)) throw incomparableMarker
  return membersKey(def, walk)
}

/**
 * Validates as the schema itself does, but without the code that zod generates for it: generating takes longer than a
 * hundred validations.
 */
export function createInterpretedValidator(schema: ZodSchema): StandardSchemaV1['~standard']['validate'] {
  // Zod creates each of these members at the first access, so they are read only when a value is validated. Most runs
  // of a handler end with the question, before there is an answer to validate.
  return (value) => {
    if (!('safeParse' in schema) || typeof schema.safeParse !== 'function') return schema['~standard'].validate(value)
    try {
      const { success, data, error } = schema.safeParse(value, { jitless: true })
      return success === true ? { value: data } : { issues: error.issues }
    } catch {
      // A check of the schema is asynchronous or has thrown. Validating again in the usual way handles both.
      return schema['~standard'].validate(value)
    }
  }
}
