import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isZodSchema, type ZodCheck, type ZodSchema } from './zod-issues.ts'

/** The zod types whose JSON Schema depends only on their definition and metadata, and not on code of the author. */
const comparableTypes: ReadonlySet<string> = new Set(
  (
    'string number boolean null enum literal array object unknown never union ' +
    'optional nonoptional default prefault readonly pipe transform'
  ).split(' '),
)

/** The checks of zod itself. A check that an author defines may change the JSON Schema when it is attached. */
const comparableChecks: ReadonlySet<unknown> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format overwrite'.split(
    ' ',
  ),
)

/**
 * The maximum number of parts of a schema, more than any form has. It ends the walk through a schema that contains
 * itself.
 */
const maxSchemaParts = 2000

/**
 * Returns a key that is equal for two zod schemas only if their JSON Schemas are equal. Returns undefined if this
 * cannot be decided. Two schemas with the same key may still validate differently, because the key does not contain the
 * code of `refine()` or `transform()`.
 */
export function structureKeyOf(schema: object): string | undefined {
  if (!isZodSchema(schema)) return undefined
  try {
    return schemaKey(schema, { remainingParts: maxSchemaParts })
  } catch (error) {
    if (error === incomparableMarker) return undefined
    throw error
  }
}

/** The value that is thrown for a part without a key. An `Error` would waste time on its stack. */
const incomparableMarker = Symbol('opaque')

interface PartBudget {
  remainingParts: number
}

function schemaKey(schema: ZodSchema, budget: PartBudget): string {
  const { def } = schema._zod
  if (!comparableTypes.has(def.type) || 'toJSONSchema' in schema._zod) throw incomparableMarker
  // Titles and descriptions are in the metadata and not in the definition. Schemas of zod/mini do not provide them.
  if (!('meta' in schema) || typeof schema.meta !== 'function') throw incomparableMarker
  const metadata: unknown = schema.meta()
  return `${membersKey(def, budget)}${metadata === undefined ? '' : valueKeyOf(metadata, budget)}`
}

function membersKey(members: object, budget: PartBudget): string {
  let key = '{'
  for (const [name, member] of Object.entries(members)) {
    if (member === undefined) continue
    // A check can itself be a schema. In this list it counts as a check.
    const isCheckList = name === 'checks' && Array.isArray(member)
    key += `${textKey(name)}${isCheckList ? keyOfChecks(member, budget) : valueKeyOf(member, budget)}`
  }
  return `${key}}`
}

/** Returns a text with its length in front, so that no text can be mistaken for two parts. */
function textKey(text: string): string {
  return `${text.length}"${text}`
}

/** Returns the key of a value in a definition or in metadata. */
function valueKeyOf(value: unknown, budget: PartBudget): string {
  if (budget.remainingParts-- === 0) throw incomparableMarker
  if (typeof value === 'string') return textKey(value)
  if (typeof value === 'function') return 'f'
  if (typeof value !== 'object' || value === null) return `${String(value)},`
  if (Array.isArray(value)) return `[${value.map((item) => valueKeyOf(item, budget)).join()}]`
  if (value instanceof RegExp) return `r${textKey(String(value))}`
  if (isZodSchema(value)) return schemaKey(value, budget)
  if (!hasPlainPrototype(value)) throw incomparableMarker
  return membersKey(value, budget)
}

/** Returns false for objects such as `Date` and `Map`, whose content is not in their members. */
function hasPlainPrototype(part: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(part)
  return prototype === Object.prototype || prototype === null
}

/** Returns the key of a list of checks, such as `min(1)` or `refine()`. */
function keyOfChecks(checks: readonly ZodCheck[], budget: PartBudget): string {
  return `[${checks.map((check) => keyOfCheck(check, budget)).join('')}]`
}

function keyOfCheck({ _zod: { def, onattach } }: ZodCheck, budget: PartBudget): string {
  const isRefinement = def.check === 'custom' && !hasItems(onattach)
  if (!isRefinement && !comparableChecks.has(def.check)) throw incomparableMarker
  return membersKey(def, budget)
}

function hasItems(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0
}

/**
 * Creates a validator with the same results as the schema's own. It avoids the code that zod generates for a schema,
 * because the generation takes longer than a hundred validations.
 */
export function createInterpretedValidator(schema: ZodSchema): StandardSchemaV1['~standard']['validate'] {
  // These members are read only when a value is validated, because zod creates each at the first access. Most runs of a
  // handler end with the question, before there is an answer to validate.
  return (value) => {
    if (!('safeParse' in schema) || typeof schema.safeParse !== 'function') return schema['~standard'].validate(value)
    try {
      const { success, data, error } = schema.safeParse(value, { jitless: true })
      return success === true ? { value: data } : { issues: error.issues }
    } catch {
      // A check of the schema is asynchronous or has thrown. The usual validation runs again and handles both.
      return schema['~standard'].validate(value)
    }
  }
}
