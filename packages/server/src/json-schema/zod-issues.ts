import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isZodSchema, type ZodCheck, type ZodSchema } from './zod-schema.ts'

/** Finds a value's first faults. Parts of a schema that it cannot judge yield none. */
export interface ZodIssueFinder {
  readonly find: (value: unknown, maxIssues: number) => readonly StandardSchemaV1.Issue[]
  /** True if it detects every kind of fault that the validator could report many times for one value. */
  readonly isComplete: boolean
}

type Issue = StandardSchemaV1.Issue
type IssueFinder = (value: unknown, maxIssues: number) => readonly Issue[]

/**
 * Finds first faults faster than zod, which lists every fault. It walks objects, arrays, records, tuples and unions
 * itself and lets zod judge each value in them, so it reports no fault in a value that zod accepts. Undefined for
 * anything but a zod schema.
 */
export function createZodIssueFinder(schema: object): ZodIssueFinder | undefined {
  if (!isZodSchema(schema)) return undefined
  // Bounded by the parts of one schema of the author.
  const traversal: IssueTraversal = { finders: new Map(), isExhaustive: true }
  try {
    const find = getOrCreateFinder(schema, traversal)
    return { find, isComplete: traversal.isExhaustive }
  } catch {
    // Another version of zod may build schemas differently. The bound on the number of issues still holds.
    return undefined
  }
}

interface IssueTraversal {
  /** By schema. Undefined while a finder is being created, because a schema may contain itself. */
  readonly finders: Map<ZodSchema, IssueFinder | undefined>
  isExhaustive: boolean
}

const noIssues: readonly Issue[] = Object.freeze([])
const findNoIssues: IssueFinder = () => noIssues

function getOrCreateFinder(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { finders } = traversal
  if (finders.has(schema))
    return finders.get(schema) ?? ((value, maxIssues) => (finders.get(schema) ?? findNoIssues)(value, maxIssues))
  finders.set(schema, undefined)
  const createFinder = finderFactories.get(schema._zod.def.type)
  const findIssues = createFinder === undefined ? createNonExhaustiveFinder(traversal) : createFinder(schema, traversal)
  finders.set(schema, findIssues)
  return findIssues
}

/** Finds nothing, for a schema that transforms before it checks or that runs code of the author. */
function createNonExhaustiveFinder(traversal: IssueTraversal): IssueFinder {
  traversal.isExhaustive = false
  return findNoIssues
}

type FinderFactory = (schema: ZodSchema, traversal: IssueTraversal) => IssueFinder

const finderFactories: ReadonlyMap<string, FinderFactory> = new Map<string, FinderFactory>([
  ...['string', 'number', 'boolean', 'null', 'literal', 'enum', 'never'].map((type): [string, FinderFactory] => [
    type,
    createLeafFinder,
  ]),
  ['any', () => findNoIssues],
  ['unknown', () => findNoIssues],
  ['object', createObjectFinder],
  ['array', createArrayFinder],
  ['record', createRecordFinder],
  ['tuple', createTupleFinder],
  ['union', createUnionFinder],
  ['optional', (schema, traversal) => createOptionalFinder(undefined, schema, traversal)],
  ['default', (schema, traversal) => createOptionalFinder(undefined, schema, traversal)],
  ['prefault', (schema, traversal) => createOptionalFinder(undefined, schema, traversal)],
  ['nullable', (schema, traversal) => createOptionalFinder(null, schema, traversal)],
  ['readonly', (schema, traversal) => createInnerFinder(schema._zod.def.innerType, traversal)],
  ['lazy', (schema, traversal) => createInnerFinder(schema._zod.def.getter?.(), traversal)],
  ['pipe', createPipeFinder],
])

function createInnerFinder(innerSchema: ZodSchema | undefined, traversal: IssueTraversal): IssueFinder {
  return innerSchema === undefined ? createNonExhaustiveFinder(traversal) : getOrCreateFinder(innerSchema, traversal)
}

function createOptionalFinder(
  acceptedValue: null | undefined,
  schema: ZodSchema,
  traversal: IssueTraversal,
): IssueFinder {
  const findInnerIssues = createInnerFinder(schema._zod.def.innerType, traversal)
  return (value, maxIssues) => (value === acceptedValue ? noIssues : findInnerIssues(value, maxIssues))
}

/** Checks a pipe's first schema only, whose input is not yet transformed. The second one may find more faults. */
function createPipeFinder({ _zod: { def } }: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const findIssues = createInnerFinder(def.in, traversal)
  traversal.isExhaustive = false
  return findIssues
}

const plainChecks: ReadonlySet<string> = new Set(
  'min_length max_length length_equals greater_than less_than multiple_of number_format string_format'.split(' '),
)

/**
 * For a text, a number or another plain value, which zod judges. A schema that coerces, or has a check of the author,
 * is left to the validator.
 */
function createLeafFinder(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { coerce, checks = [] } = schema._zod.def
  if (coerce === true || !checks.every(({ _zod }) => plainChecks.has(_zod.def.check)))
    return createNonExhaustiveFinder(traversal)
  return (value) => findZodIssues(schema, value)
}

function findZodIssues(schema: ZodSchema, value: unknown): readonly Issue[] {
  const result = schema['~standard'].validate(value)
  if (!(result instanceof Promise)) return result.issues ?? noIssues
  // Nothing waits for promises here. The validator runs afterwards and reports the error.
  result.catch(() => {})
  return noIssues
}

function createObjectFinder(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { shape = {}, catchall, checks = [] } = schema._zod.def
  if (checks.length > 0) traversal.isExhaustive = false
  const isStrict = catchall?._zod.def.type === 'never'
  const otherFinder = catchall === undefined || isStrict ? undefined : getOrCreateFinder(catchall, traversal)
  const memberFinders = Object.entries(shape).map(([key, member]) => {
    const { optin, optout } = member._zod
    // zod omits this key from its output.
    if (key === '__proto__') return { key, look: findNoIssues, mayLack: true }
    return { key, look: getOrCreateFinder(member, traversal), mayLack: optin !== undefined || optout !== undefined }
  })
  const knownKeys = new Set([...Object.keys(shape), '__proto__'])
  const listCheckedKeys = isStrict || otherFinder !== undefined ? Object.keys : () => []
  return (value, maxIssues) => {
    if (!isRecord(value)) return findZodIssues(schema, value)
    const issueCollector = new IssueCollector(maxIssues)
    for (const member of memberFinders) {
      if (issueCollector.isFull) break
      // Like zod, this also finds inherited members.
      if (!member.mayLack || member.key in value)
        issueCollector.add(member.key, member.look(value[member.key], maxIssues))
    }
    for (const key of listCheckedKeys(value)) {
      if (!knownKeys.has(key) && !issueCollector.isFull)
        addOtherMemberIssues(issueCollector, key, otherFinder?.(value[key], maxIssues))
    }
    return issueCollector.issues
  }
}

function addOtherMemberIssues(
  issueCollector: IssueCollector,
  key: string,
  memberIssues: readonly Issue[] | undefined,
): void {
  if (memberIssues === undefined)
    issueCollector.addOwnIssue({ message: `Unrecognized key: ${JSON.stringify(key.slice(0, 100))}` })
  else issueCollector.add(key, memberIssues)
}

const lengthChecks: ReadonlySet<string> = new Set(['min_length', 'max_length', 'length_equals'])

function createArrayFinder(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { element, checks = [] } = schema._zod.def
  const checkDefinitions = checks.map(({ _zod }) => _zod.def)
  if (!checkDefinitions.every(({ check }) => lengthChecks.has(check))) traversal.isExhaustive = false
  const findItemIssues = createInnerFinder(element, traversal)
  return (value, maxIssues) => {
    if (!Array.isArray(value)) return findZodIssues(schema, value)
    const firstLengthIssue = checkDefinitions
      .map((checkDefinition) => findLengthIssue(value.length, checkDefinition))
      .find((issue) => issue !== undefined)
    return firstLengthIssue === undefined
      ? collectItemIssues(value, () => findItemIssues, maxIssues)
      : [firstLengthIssue]
  }
}

function collectItemIssues(
  values: readonly unknown[],
  finderAt: (index: number) => IssueFinder,
  maxIssues: number,
): readonly Issue[] {
  const issueCollector = new IssueCollector(maxIssues)
  for (let index = 0; index < values.length && !issueCollector.isFull; index++) {
    issueCollector.add(index, finderAt(index)(values[index], maxIssues))
  }
  return issueCollector.issues
}

function findLengthIssue(
  itemCount: number,
  { check, minimum = 0, maximum = 0, length = 0 }: ZodCheck['_zod']['def'],
): Issue | undefined {
  if (check === 'min_length' && itemCount < minimum) return { message: `Too small: expected at least ${minimum} items` }
  if (check === 'max_length' && itemCount > maximum) return { message: `Too big: expected at most ${maximum} items` }
  return check === 'length_equals' && itemCount !== length ? { message: `Expected ${length} items` } : undefined
}

function createRecordFinder(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { keyType, valueType, checks = [] } = schema._zod.def
  // Keys of other types are converted, or each of the values must be present as a key.
  if (keyType?._zod.def.type !== 'string') return createNonExhaustiveFinder(traversal)
  if (checks.length > 0) traversal.isExhaustive = false
  const findKeyIssues = getOrCreateFinder(keyType, traversal)
  const findValueIssues = createInnerFinder(valueType, traversal)
  return (value, maxIssues) => {
    if (!isRecord(value)) return findZodIssues(schema, value)
    const issueCollector = new IssueCollector(maxIssues)
    for (const key of Object.keys(value)) {
      if (issueCollector.isFull) break
      if (key === '__proto__') continue
      const keyIssues = findKeyIssues(key, maxIssues)
      issueCollector.add(key, keyIssues.length > 0 ? keyIssues : findValueIssues(value[key], maxIssues))
    }
    return issueCollector.issues
  }
}

function createTupleFinder(schema: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { items = [], rest, checks = [] } = schema._zod.def
  if (checks.length > 0) traversal.isExhaustive = false
  const finders = items.map((item) => getOrCreateFinder(item, traversal))
  const otherFinder = rest === undefined || rest === null ? undefined : getOrCreateFinder(rest, traversal)
  const minItems = items.findLastIndex(({ _zod }) => _zod.optin === undefined && _zod.optout === undefined) + 1
  return (value, maxIssues) => {
    if (!Array.isArray(value)) return findZodIssues(schema, value)
    if (otherFinder === undefined && value.length < minItems)
      return [{ message: `Too small: expected ${minItems} items` }]
    if (otherFinder === undefined && value.length > finders.length) {
      return [{ message: `Too big: expected ${finders.length} items` }]
    }
    return collectItemIssues(value, (index) => finders[index] ?? otherFinder ?? findNoIssues, maxIssues)
  }
}

function createUnionFinder({ _zod: { def } }: ZodSchema, traversal: IssueTraversal): IssueFinder {
  const { options = [], discriminator } = def
  const finders = options.map((option) => getOrCreateFinder(option, traversal))
  const discriminatorSchemas = options.map((option) => discriminator && option._zod.def.shape?.[discriminator])
  return (value, maxIssues) => {
    const errors: (readonly Issue[])[] = []
    for (const findIssues of finders) {
      const issues = findIssues(value, 1)
      if (issues.length === 0) return noIssues
      errors.push(issues)
    }
    const discriminatorValue = isRecord(value) && discriminator !== undefined ? value[discriminator] : undefined
    const matchingIndex = discriminatorSchemas.findIndex(
      (discriminatorSchema) =>
        isZodSchema(discriminatorSchema) && findZodIssues(discriminatorSchema, discriminatorValue).length === 0,
    )
    if (matchingIndex !== -1) return finders[matchingIndex]?.(value, maxIssues) ?? noIssues
    const message = 'Invalid input'
    return [Object.assign({ message }, { errors })]
  }
}

/** As in core. This file is loaded with the first faulty value, and what it shared with the entry would be loaded at the start. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

class IssueCollector {
  readonly #maxIssues: number
  #issues: Issue[] | undefined

  constructor(maxIssues: number) {
    this.#maxIssues = maxIssues
  }

  get issues(): readonly Issue[] {
    return this.#issues ?? noIssues
  }

  get isFull(): boolean {
    return this.issues.length >= this.#maxIssues
  }

  add(key: string | number, innerIssues: readonly Issue[]): void {
    for (const issue of innerIssues) this.addOwnIssue({ ...issue, path: [key, ...(issue.path ?? [])] })
  }

  addOwnIssue(issue: Issue): void {
    if (!this.isFull) (this.#issues ??= []).push(issue)
  }
}
