import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isZodSchema, type ZodCheck, type ZodSchema } from './zod-issues.ts'

/** The types whose JSON Schema follows from their definition and metadata: none of them runs an author's code. */
const transparentTypes: ReadonlySet<string> = new Set(
  (
    'string number boolean null enum literal array object unknown never union ' +
    'optional nonoptional default prefault readonly pipe transform'
  ).split(' '),
)

/** zod's own checks; one that an author defines may change the JSON Schema when it is attached. */
const transparentChecks: ReadonlySet<unknown> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format overwrite'.split(
    ' ',
  ),
)

/** More parts than any form has; a schema that contains itself has no end. */
const maxParts = 2000

/**
 * Returns a text that two schemas of zod have in common if, and nearly only if, both have the same JSON Schema.
 * Undefined for a schema of which that cannot be told. Schemas of one key may still validate differently: a closure of
 * `refine()` or `transform()` is no part of it.
 */
export function zodKeyOf(schema: object): string | undefined {
  if (!isZodSchema(schema)) return undefined
  try {
    return schemaKey(schema, { remainingParts: maxParts })
  } catch (error) {
    if (error === opaqueMarker) return undefined
    throw error
  }
}

/** Thrown for a part that has no key; it carries nothing, and so needs no stack. */
const opaqueMarker = Symbol('opaque')

interface PartBudget {
  remainingParts: number
}

function schemaKey(schema: ZodSchema, budget: PartBudget): string {
  const { def } = schema._zod
  if (!transparentTypes.has(def.type) || 'toJSONSchema' in schema._zod) throw opaqueMarker
  // Titles and descriptions are not in the definition; zod/mini does not show them.
  if (!('meta' in schema) || typeof schema.meta !== 'function') throw opaqueMarker
  const metadata: unknown = schema.meta()
  return `${membersKey(def, budget)}${metadata === undefined ? '' : valueKeyOf(metadata, budget)}`
}

function membersKey(members: object, budget: PartBudget): string {
  let key = '{'
  for (const [name, member] of Object.entries(members)) {
    if (member === undefined) continue
    // A check may be a schema too, and has one meaning in this place.
    const isCheckList = name === 'checks' && Array.isArray(member)
    key += `${textKey(name)}${isCheckList ? checkListKeyOf(member, budget) : valueKeyOf(member, budget)}`
  }
  return `${key}}`
}

/** A text behind its length, so that no text looks like two parts. */
function textKey(text: string): string {
  return `${text.length}"${text}`
}

/** The key of a value in a definition or in metadata. */
function valueKeyOf(part: unknown, budget: PartBudget): string {
  if (budget.remainingParts-- === 0) throw opaqueMarker
  if (typeof part === 'string') return textKey(part)
  if (typeof part === 'function') return 'f'
  if (typeof part !== 'object' || part === null) return `${String(part)},`
  if (Array.isArray(part)) return `[${part.map((item) => valueKeyOf(item, budget)).join()}]`
  if (part instanceof RegExp) return `r${textKey(String(part))}`
  if (isZodSchema(part)) return schemaKey(part, budget)
  if (!isPlain(part)) throw opaqueMarker
  return membersKey(part, budget)
}

/** Returns false for a `Date`, a `Map` and the like, whose content is not in their members. */
function isPlain(part: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(part)
  return prototype === Object.prototype || prototype === null
}

/** The key of checks, such as `min(1)` or `refine()`. */
function checkListKeyOf(checks: readonly ZodCheck[], budget: PartBudget): string {
  return `[${checks.map((check) => checkKeyOf(check, budget)).join('')}]`
}

function checkKeyOf({ _zod: { def, onattach } }: ZodCheck, budget: PartBudget): string {
  const isRefinement = def.check === 'custom' && !hasItems(onattach)
  if (!isRefinement && !transparentChecks.has(def.check)) throw opaqueMarker
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
