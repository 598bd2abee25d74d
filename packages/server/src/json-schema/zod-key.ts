import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isZodSchema, type ZodCheck, type ZodSchema } from './zod-issues.ts'

/** The types whose JSON Schema follows from their definition and metadata: none of them runs an author's code. */
const comparableTypes: ReadonlySet<string> = new Set(
  (
    'string number boolean null enum literal array object unknown never union ' +
    'optional nonoptional default prefault readonly pipe transform'
  ).split(' '),
)

/** zod's own checks. One that an author defines may change the JSON Schema when it is attached. */
const comparableChecks: ReadonlySet<unknown> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format overwrite'.split(
    ' ',
  ),
)

/** More parts than any form has. A schema that contains itself has no end. */
const maxSchemaParts = 2000

/**
 * Returns a text that two schemas of zod have in common if, and nearly only if, both have the same JSON Schema.
 * Undefined for a schema of which that cannot be known. Schemas of one key may still validate differently: a closure of
 * `refine()` or `transform()` is no part of it.
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

/** Thrown for a part that has no key. It carries nothing, and so needs no stack. */
const incomparableMarker = Symbol('opaque')

interface PartBudget {
  remainingParts: number
}

function schemaKey(schema: ZodSchema, budget: PartBudget): string {
  const { def } = schema._zod
  if (!comparableTypes.has(def.type) || 'toJSONSchema' in schema._zod) throw incomparableMarker
  // Titles and descriptions are not in the definition; zod/mini does not show them.
  if (!('meta' in schema) || typeof schema.meta !== 'function') throw incomparableMarker
  const metadata: unknown = schema.meta()
  return `${membersKey(def, budget)}${metadata === undefined ? '' : valueKeyOf(metadata, budget)}`
}

function membersKey(members: object, budget: PartBudget): string {
  let key = '{'
  for (const [name, member] of Object.entries(members)) {
    if (member === undefined) continue
    // A check may be a schema too, and has one meaning in this place.
    const isCheckList = name === 'checks' && Array.isArray(member)
    key += `${textKey(name)}${isCheckList ? keyOfChecks(member, budget) : valueKeyOf(member, budget)}`
  }
  return `${key}}`
}

/** A text behind its length, so that no text looks like two parts. */
function textKey(text: string): string {
  return `${text.length}"${text}`
}

/** The key of a value in a definition or in metadata. */
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

/** Returns false for a `Date`, a `Map` and the like, whose content is not in their members. */
function hasPlainPrototype(part: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(part)
  return prototype === Object.prototype || prototype === null
}

/** The key of checks, such as `min(1)` or `refine()`. */
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
 * Validates as zod does, without the code that zod generates for a schema: the generation takes longer than a hundred
 * validations.
 */
export function createInterpretedValidator(schema: ZodSchema): StandardSchemaV1['~standard']['validate'] {
  // zod makes each of these members when it is first read, and most questions are asked before they are answered.
  return (value) => {
    if (!('safeParse' in schema) || typeof schema.safeParse !== 'function') return schema['~standard'].validate(value)
    try {
      const { success, data, error } = schema.safeParse(value, { jitless: true })
      return success === true ? { value: data } : { issues: error.issues }
    } catch {
      // One of its checks is asynchronous, or fails: zod validates again, and reports what it finds.
      return schema['~standard'].validate(value)
    }
  }
}
