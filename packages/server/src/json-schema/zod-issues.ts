import type { StandardSchemaV1 } from '@standard-schema/spec'

/** Looks for the first faults of a value; finds none where it cannot tell. */
export interface FirstIssues {
  readonly find: (value: unknown, maxIssues: number) => readonly StandardSchemaV1.Issue[]
  /** True where whatever the validator could find many times is found here. */
  readonly complete: boolean
}

type Issue = StandardSchemaV1.Issue
type IssueFinder = (value: unknown, maxIssues: number) => readonly Issue[]

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
  const traversal: IssueTraversal = { finders: new Map(), complete: true }
  try {
    const find = finderOf(schema, traversal)
    return { find, complete: traversal.complete }
  } catch {
    // The schema of a version that is built in another way; the bound on issues holds for it.
    return undefined
  }
}

interface IssueTraversal {
  /** Undefined while the look of a schema is made: one that contains itself comes back to it. */
  readonly finders: Map<ZodSchema, IssueFinder | undefined>
  complete: boolean
}

const none: readonly Issue[] = Object.freeze([])
const nothing: IssueFinder = () => none

/** Returns true for a schema of zod. */
export function isZodSchema(schema: unknown): schema is ZodSchema {
  return typeof schema === 'object' && schema !== null && '_zod' in schema && '~standard' in schema
}

function finderOf(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { finders } = traversal
  if (finders.has(schema))
    return finders.get(schema) ?? ((value, maxIssues) => (finders.get(schema) ?? nothing)(value, maxIssues))
  finders.set(schema, undefined)
  const make = makers.get(schema._zod.def.type)
  const findIssues = make === undefined ? unknownIssues(traversal) : make(schema, traversal)
  finders.set(schema, findIssues)
  return findIssues
}

/** Nothing is said of a schema that transforms before it checks, or runs an author's code. */
function unknownIssues(traversal: IssueTraversal): IssueFinder {
  traversal.complete = false
  return nothing
}

type Make = (schema: ZodSchema, traversal: IssueTraversal) => IssueFinder

const makers: ReadonlyMap<string, Make> = new Map<string, Make>([
  ...['string', 'number', 'boolean', 'null', 'literal', 'enum', 'never'].map((type): [string, Make] => [type, leaf]),
  ['any', () => nothing],
  ['unknown', () => nothing],
  ['object', objectIssues],
  ['array', arrayIssues],
  ['record', recordIssues],
  ['tuple', tupleIssues],
  ['union', unionIssues],
  ['optional', (schema, traversal) => unless(undefined, schema, traversal)],
  ['default', (schema, traversal) => unless(undefined, schema, traversal)],
  ['prefault', (schema, traversal) => unless(undefined, schema, traversal)],
  ['nullable', (schema, traversal) => unless(null, schema, traversal)],
  ['readonly', (schema, traversal) => innerIssues(schema._zod.def.innerType, traversal)],
  ['lazy', (schema, traversal) => innerIssues(schema._zod.def.getter?.(), traversal)],
  ['pipe', pipeIssues],
])

function innerIssues(inner: ZodSchema | undefined, traversal: IssueTraversal): IssueFinder {
  return inner === undefined ? unknownIssues(traversal) : finderOf(inner, traversal)
}

/** A schema that takes one value more than the schema in it. */
function unless(taken: null | undefined, schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const inner = innerIssues(schema._zod.def.innerType, traversal)
  return (value, maxIssues) => (value === taken ? none : inner(value, maxIssues))
}

/** The first half is checked before anything is transformed; what follows may have faults of its own. */
function pipeIssues({ _zod: { def } }: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const findIssues = innerIssues(def.in, traversal)
  traversal.complete = false
  return findIssues
}

const plainChecks: ReadonlySet<string> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format'.split(' '),
)

/** A text, a number or the like, which zod judges; one that is coerced or has an author's check is left to the validation. */
function leaf(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { coerce, checks = [] } = schema._zod.def
  if (coerce === true || !checks.every(({ _zod }) => plainChecks.has(_zod.def.check))) return unknownIssues(traversal)
  return (value) => validatedByZod(schema, value)
}

function validatedByZod(schema: ZodSchema, value: unknown): readonly Issue[] {
  const result = schema['~standard'].validate(value)
  if (!(result instanceof Promise)) return result.issues ?? none
  // Nothing here waits, and the validation that follows reports what the promise rejects with.
  result.catch(() => {})
  return none
}

function objectIssues(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { shape = {}, catchall, checks = [] } = schema._zod.def
  if (checks.length > 0) traversal.complete = false
  const strict = catchall?._zod.def.type === 'never'
  const others = catchall === undefined || strict ? undefined : finderOf(catchall, traversal)
  const members = Object.entries(shape).map(([key, member]) => {
    const { optin, optout } = member._zod
    // zod leaves this key out.
    if (key === '__proto__') return { key, look: nothing, mayLack: true }
    return { key, look: finderOf(member, traversal), mayLack: optin !== undefined || optout !== undefined }
  })
  const names = new Set([...Object.keys(shape), '__proto__'])
  const otherKeys = strict || others !== undefined ? Object.keys : () => []
  return (value, maxIssues) => {
    if (!isRecord(value)) return validatedByZod(schema, value)
    const found = collectIssues(maxIssues)
    for (const member of members) {
      if (found.isFull()) break
      // As zod does, this reads what every object inherits.
      if (!member.mayLack || member.key in value) found.add(member.key, member.look(value[member.key], maxIssues))
    }
    for (const key of otherKeys(value)) {
      if (!names.has(key) && !found.isFull()) addOther(found, key, others?.(value[key], maxIssues))
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

function arrayIssues(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { element, checks = [] } = schema._zod.def
  const bounds = checks.map(({ _zod }) => _zod.def)
  if (!bounds.every(({ check }) => lengthChecks.has(check))) traversal.complete = false
  const item = innerIssues(element, traversal)
  return (value, maxIssues) => {
    if (!Array.isArray(value)) return validatedByZod(schema, value)
    const outside = bounds.map((bound) => lengthIssue(value.length, bound)).find((issue) => issue !== undefined)
    return outside === undefined ? itemIssues(value, () => item, maxIssues) : [outside]
  }
}

function itemIssues(
  values: readonly unknown[],
  finderAt: (index: number) => IssueFinder,
  maxIssues: number,
): readonly Issue[] {
  const found = collectIssues(maxIssues)
  for (let index = 0; index < values.length && !found.isFull(); index++) {
    found.add(index, finderAt(index)(values[index], maxIssues))
  }
  return found.issues
}

function lengthIssue(size: number, { check, minimum = 0, maximum = 0, length = 0 }: ZodCheck): Issue | undefined {
  if (check === 'min_length' && size < minimum) return { message: `Too small: expected at least ${minimum} items` }
  if (check === 'max_length' && size > maximum) return { message: `Too big: expected at most ${maximum} items` }
  return check === 'length_equals' && size !== length ? { message: `Expected ${length} items` } : undefined
}

function recordIssues(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { keyType, valueType, checks = [] } = schema._zod.def
  // Keys of other types are converted, or there must be one of each.
  if (keyType?._zod.def.type !== 'string') return unknownIssues(traversal)
  if (checks.length > 0) traversal.complete = false
  const name = finderOf(keyType, traversal)
  const item = innerIssues(valueType, traversal)
  return (value, maxIssues) => {
    if (!isRecord(value)) return validatedByZod(schema, value)
    const found = collectIssues(maxIssues)
    for (const key of Object.keys(value)) {
      if (found.isFull()) break
      if (key === '__proto__') continue
      const wrongName = name(key, maxIssues)
      found.add(key, wrongName.length > 0 ? wrongName : item(value[key], maxIssues))
    }
    return found.issues
  }
}

function tupleIssues(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { items = [], rest, checks = [] } = schema._zod.def
  if (checks.length > 0) traversal.complete = false
  const finders = items.map((item) => finderOf(item, traversal))
  const others = rest === undefined || rest === null ? undefined : finderOf(rest, traversal)
  const least = items.findLastIndex(({ _zod }) => _zod.optin === undefined && _zod.optout === undefined) + 1
  return (value, maxIssues) => {
    if (!Array.isArray(value)) return validatedByZod(schema, value)
    if (others === undefined && value.length < least) return [{ message: `Too small: expected ${least} items` }]
    if (others === undefined && value.length > finders.length) {
      return [{ message: `Too big: expected ${finders.length} items` }]
    }
    return itemIssues(value, (index) => finders[index] ?? others ?? nothing, maxIssues)
  }
}

function unionIssues({ _zod: { def } }: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { options = [], discriminator } = def
  const finders = options.map((option) => finderOf(option, traversal))
  const tags = options.map((option) => discriminator && option._zod.def.shape?.[discriminator])
  return (value, maxIssues) => {
    const errors: (readonly Issue[])[] = []
    for (const findIssues of finders) {
      const issues = findIssues(value, 1)
      if (issues.length === 0) return none
      errors.push(issues)
    }
    const chosen = isRecord(value) && discriminator !== undefined ? value[discriminator] : undefined
    const meant = tags.findIndex((tag) => isZodSchema(tag) && validatedByZod(tag, chosen).length === 0)
    if (meant !== -1) return finders[meant]?.(value, maxIssues) ?? none
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
function collectIssues(maxIssues: number): Found {
  let issues: Issue[] | undefined
  const take = (issue: Issue): void => {
    issues ??= []
    if (issues.length < maxIssues) issues.push(issue)
  }
  return {
    get issues() {
      return issues ?? none
    },
    isFull: () => issues !== undefined && issues.length >= maxIssues,
    add(key, inner) {
      for (const issue of inner) take({ ...issue, path: [key, ...(issue.path ?? [])] })
    },
    addOwn: (message) => take({ message }),
  }
}
