import type { StandardSchemaV1 } from '@standard-schema/spec'

/** Looks for the first faults of a value; finds none where it cannot tell. */
export interface FirstIssues {
  readonly find: (value: unknown, most: number) => readonly StandardSchemaV1.Issue[]
  /** True where whatever the validator could find many times is found here. */
  readonly complete: boolean
}

type Issue = StandardSchemaV1.Issue
type Look = (value: unknown, most: number) => readonly Issue[]

/** A schema of zod, as far as its documentation for library authors describes one (zod.dev/library-authors). */
export interface ZodSchema {
  readonly _zod: {
    readonly def: ZodDefinition
    /** Set where a member of an object may be absent. */
    readonly optin?: unknown
    readonly optout?: unknown
  }
  readonly '~standard': StandardSchemaV1.Props
}

interface ZodDefinition {
  readonly type: string
  readonly coerce?: boolean
  readonly checks?: readonly { readonly _zod: { readonly def: ZodCheck } }[]
  readonly shape?: Readonly<Record<string, ZodSchema>>
  readonly catchall?: ZodSchema
  readonly element?: ZodSchema
  readonly keyType?: ZodSchema
  readonly valueType?: ZodSchema
  readonly items?: readonly ZodSchema[]
  readonly rest?: ZodSchema | null
  readonly options?: readonly ZodSchema[]
  readonly discriminator?: string
  readonly innerType?: ZodSchema
  readonly in?: ZodSchema
  readonly getter?: () => ZodSchema
}

interface ZodCheck {
  readonly check: string
  readonly minimum?: number
  readonly maximum?: number
  readonly length?: number
}

/**
 * Makes a search for the first faults of a value, from a schema of zod; undefined for any other schema. zod itself lists every
 * fault. Objects, arrays, records, tuples and unions are walked here, and each value in them is judged by zod, so that nothing
 * is found that zod accepts.
 */
export function zodIssues(schema: object): FirstIssues | undefined {
  if (!isZodSchema(schema)) return undefined
  const traversal: IssueTraversal = { looks: new Map(), complete: true }
  try {
    const find = lookOf(schema, traversal)
    return { find, complete: traversal.complete }
  } catch {
    // The schema of a version that is built in another way; the bound on issues holds for it.
    return undefined
  }
}

interface IssueTraversal {
  /** Undefined while the look of a schema is made: one that contains itself comes back to it. */
  readonly looks: Map<ZodSchema, Look | undefined>
  complete: boolean
}

const none: readonly Issue[] = Object.freeze([])
const nothing: Look = () => none

/** Returns true for a schema of zod. */
export function isZodSchema(schema: unknown): schema is ZodSchema {
  return typeof schema === 'object' && schema !== null && '_zod' in schema && '~standard' in schema
}

function lookOf(schema: ZodSchema, traversal: IssueTraversal): Look {
  const { looks } = traversal
  if (looks.has(schema)) return looks.get(schema) ?? ((value, most) => (looks.get(schema) ?? nothing)(value, most))
  looks.set(schema, undefined)
  const make = makers.get(schema._zod.def.type)
  const look = make === undefined ? unknownLook(traversal) : make(schema, traversal)
  looks.set(schema, look)
  return look
}

/** Nothing is said of a schema that transforms before it checks, or runs an author's code. */
function unknownLook(traversal: IssueTraversal): Look {
  traversal.complete = false
  return nothing
}

type Make = (schema: ZodSchema, traversal: IssueTraversal) => Look

const makers: ReadonlyMap<string, Make> = new Map<string, Make>([
  ...['string', 'number', 'boolean', 'null', 'literal', 'enum', 'never'].map((type): [string, Make] => [type, leaf]),
  ['any', () => nothing],
  ['unknown', () => nothing],
  ['object', objectLook],
  ['array', arrayLook],
  ['record', recordLook],
  ['tuple', tupleLook],
  ['union', unionLook],
  ['optional', (schema, traversal) => unless(undefined, schema, traversal)],
  ['default', (schema, traversal) => unless(undefined, schema, traversal)],
  ['prefault', (schema, traversal) => unless(undefined, schema, traversal)],
  ['nullable', (schema, traversal) => unless(null, schema, traversal)],
  ['readonly', (schema, traversal) => innerLook(schema._zod.def.innerType, traversal)],
  ['lazy', (schema, traversal) => innerLook(schema._zod.def.getter?.(), traversal)],
  ['pipe', pipeLook],
])

function innerLook(inner: ZodSchema | undefined, traversal: IssueTraversal): Look {
  return inner === undefined ? unknownLook(traversal) : lookOf(inner, traversal)
}

/** A schema that takes one value more than the schema in it. */
function unless(taken: null | undefined, schema: ZodSchema, traversal: IssueTraversal): Look {
  const inner = innerLook(schema._zod.def.innerType, traversal)
  return (value, most) => (value === taken ? none : inner(value, most))
}

/** The first half is checked before anything is transformed; what follows may have faults of its own. */
function pipeLook({ _zod: { def } }: ZodSchema, traversal: IssueTraversal): Look {
  const look = innerLook(def.in, traversal)
  traversal.complete = false
  return look
}

const plainChecks: ReadonlySet<string> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format'.split(' '),
)

/** A text, a number or the like, which zod judges; one that is coerced or has an author's check is left to the validation. */
function leaf(schema: ZodSchema, traversal: IssueTraversal): Look {
  const { coerce, checks = [] } = schema._zod.def
  if (coerce === true || !checks.every(({ _zod }) => plainChecks.has(_zod.def.check))) return unknownLook(traversal)
  return (value) => validatedByZod(schema, value)
}

function validatedByZod(schema: ZodSchema, value: unknown): readonly Issue[] {
  const result = schema['~standard'].validate(value)
  if (!(result instanceof Promise)) return result.issues ?? none
  // Nothing here waits, and the validation that follows reports what the promise rejects with.
  result.catch(() => {})
  return none
}

function objectLook(schema: ZodSchema, traversal: IssueTraversal): Look {
  const { shape = {}, catchall, checks = [] } = schema._zod.def
  if (checks.length > 0) traversal.complete = false
  const strict = catchall?._zod.def.type === 'never'
  const others = catchall === undefined || strict ? undefined : lookOf(catchall, traversal)
  const members = Object.entries(shape).map(([key, member]) => {
    const { optin, optout } = member._zod
    // zod leaves this key out.
    if (key === '__proto__') return { key, look: nothing, mayLack: true }
    return { key, look: lookOf(member, traversal), mayLack: optin !== undefined || optout !== undefined }
  })
  const names = new Set([...Object.keys(shape), '__proto__'])
  const otherKeys = strict || others !== undefined ? Object.keys : () => []
  return (value, most) => {
    if (!isRecord(value)) return validatedByZod(schema, value)
    const found = collectIssues(most)
    for (const member of members) {
      if (found.isFull()) break
      // As zod does, this reads what every object inherits.
      if (!member.mayLack || member.key in value) found.add(member.key, member.look(value[member.key], most))
    }
    for (const key of otherKeys(value)) {
      if (!names.has(key) && !found.isFull()) addOther(found, key, others?.(value[key], most))
    }
    return found.issues
  }
}

/** A member that the schema does not name: one with faults, or one that should not be there. */
function addOther(found: Found, key: string, faults: readonly Issue[] | undefined): void {
  if (faults === undefined) found.addOwn(`Unrecognized key: ${JSON.stringify(key.slice(0, 100))}`)
  else found.add(key, faults)
}

const lengthChecks: ReadonlySet<string> = new Set(['min_length', 'max_length', 'length_equals'])

function arrayLook(schema: ZodSchema, traversal: IssueTraversal): Look {
  const { element, checks = [] } = schema._zod.def
  const bounds = checks.map(({ _zod }) => _zod.def)
  if (!bounds.every(({ check }) => lengthChecks.has(check))) traversal.complete = false
  const item = innerLook(element, traversal)
  return (value, most) => {
    if (!Array.isArray(value)) return validatedByZod(schema, value)
    const outside = bounds.map((bound) => lengthIssue(value.length, bound)).find((issue) => issue !== undefined)
    return outside === undefined ? itemIssues(value, () => item, most) : [outside]
  }
}

function itemIssues(values: readonly unknown[], lookAt: (index: number) => Look, most: number): readonly Issue[] {
  const found = collectIssues(most)
  for (let index = 0; index < values.length && !found.isFull(); index++) {
    found.add(index, lookAt(index)(values[index], most))
  }
  return found.issues
}

function lengthIssue(size: number, { check, minimum = 0, maximum = 0, length = 0 }: ZodCheck): Issue | undefined {
  if (check === 'min_length' && size < minimum) return { message: `Too small: expected at least ${minimum} items` }
  if (check === 'max_length' && size > maximum) return { message: `Too big: expected at most ${maximum} items` }
  return check === 'length_equals' && size !== length ? { message: `Expected ${length} items` } : undefined
}

function recordLook(schema: ZodSchema, traversal: IssueTraversal): Look {
  const { keyType, valueType, checks = [] } = schema._zod.def
  // Keys of other types are converted, or there must be one of each.
  if (keyType?._zod.def.type !== 'string') return unknownLook(traversal)
  if (checks.length > 0) traversal.complete = false
  const name = lookOf(keyType, traversal)
  const item = innerLook(valueType, traversal)
  return (value, most) => {
    if (!isRecord(value)) return validatedByZod(schema, value)
    const found = collectIssues(most)
    for (const key of Object.keys(value)) {
      if (found.isFull()) break
      if (key === '__proto__') continue
      const wrongName = name(key, most)
      found.add(key, wrongName.length > 0 ? wrongName : item(value[key], most))
    }
    return found.issues
  }
}

function tupleLook(schema: ZodSchema, traversal: IssueTraversal): Look {
  const { items = [], rest, checks = [] } = schema._zod.def
  if (checks.length > 0) traversal.complete = false
  const looks = items.map((item) => lookOf(item, traversal))
  const others = rest === undefined || rest === null ? undefined : lookOf(rest, traversal)
  const least = items.findLastIndex(({ _zod }) => _zod.optin === undefined && _zod.optout === undefined) + 1
  return (value, most) => {
    if (!Array.isArray(value)) return validatedByZod(schema, value)
    if (others === undefined && value.length < least) return [{ message: `Too small: expected ${least} items` }]
    if (others === undefined && value.length > looks.length) {
      return [{ message: `Too big: expected ${looks.length} items` }]
    }
    return itemIssues(value, (index) => looks[index] ?? others ?? nothing, most)
  }
}

function unionLook({ _zod: { def } }: ZodSchema, traversal: IssueTraversal): Look {
  const { options = [], discriminator } = def
  const looks = options.map((option) => lookOf(option, traversal))
  const tags = options.map((option) => discriminator && option._zod.def.shape?.[discriminator])
  return (value, most) => {
    const errors: (readonly Issue[])[] = []
    for (const look of looks) {
      const issues = look(value, 1)
      if (issues.length === 0) return none
      errors.push(issues)
    }
    const chosen = isRecord(value) && discriminator !== undefined ? value[discriminator] : undefined
    const meant = tags.findIndex((tag) => isZodSchema(tag) && validatedByZod(tag, chosen).length === 0)
    if (meant !== -1) return looks[meant]?.(value, most) ?? none
    const message = 'Invalid input'
    return [Object.assign({ message }, { errors })]
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface Found {
  readonly issues: readonly Issue[]
  isFull(): boolean
  /** Takes the issues of a member or an item. */
  add(key: string | number, inner: readonly Issue[]): void
  /** Takes an issue of the whole. */
  addOwn(message: string): void
}

/** Collects issues up to a number; allocates nothing before the first. */
function collectIssues(most: number): Found {
  let issues: Issue[] | undefined
  const take = (issue: Issue): void => {
    issues ??= []
    if (issues.length < most) issues.push(issue)
  }
  return {
    get issues() {
      return issues ?? none
    },
    isFull: () => issues !== undefined && issues.length >= most,
    add(key, inner) {
      for (const issue of inner) take({ ...issue, path: [key, ...(issue.path ?? [])] })
    },
    addOwn: (message) => take({ message }),
  }
}
