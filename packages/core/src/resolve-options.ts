import { checkedNumber, type NumberBounds } from './checked-number.ts'
import { findClosestName } from './closest-name.ts'

/** What is known of one option, beside its type. */
export interface OptionRules extends NumberBounds {
  /** Value of an absent option. If it is a number, given values are checked with the bounds. */
  readonly default?: unknown
  /** A numeric option may be null. Default: false. */
  readonly isNullable?: boolean
  /** Table of the options in an option that is an object. With `false` instead of the object, it is not used. */
  readonly group?: object
  /** Which values the option accepts. Default: any, and for a number those within the bounds. */
  readonly type?: OptionType
}

/** A type of options, for programs without a compiler. */
export interface OptionType {
  /** What the option must be, as `a function`. */
  readonly name: string
  readonly accepts: (value: unknown) => boolean
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isText = (value: unknown): boolean => isString(value) && value !== ''
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Types that options of several functions have. */
export const optionTypes = {
  boolean: { name: 'true or false', accepts: (value) => typeof value === 'boolean' },
  function: { name: 'a function', accepts: (value) => typeof value === 'function' },
  object: { name: 'an object', accepts: isObject },
  principal: {
    name: "a principal, such as { subject: 'ada', scopes: ['read'] }",
    // Of scopes in one text, `includes` would also find parts.
    accepts: (value) =>
      isObject(value) && isText(Reflect.get(value, 'subject')) && Array.isArray(Reflect.get(value, 'scopes') ?? []),
  },
  string: { name: 'a string', accepts: isString },
  strings: { name: 'an array of strings', accepts: (value) => Array.isArray(value) && value.every(isString) },
  texts: {
    name: 'an object whose values are strings',
    accepts: (value) => isObject(value) && Object.values(value).every(isString),
  },
} as const satisfies Record<string, OptionType>

/** The type of an option that is an object with these functions, such as a store. */
export function objectWith(methods: readonly string[], name: string): OptionType {
  return {
    name,
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => typeof Reflect.get(value, method) === 'function'),
  }
}

/**
 * A function's options, in one row each: the default, `undefined` for none, or {@link OptionRules}. It stands below the
 * interface of the options, which has their meanings. Write `satisfies OptionTable<Options>`, so that an option without
 * a row does not compile. A comment `// limit: unit | what | beyond` above a row makes it a row of `docs/limits.md`.
 *
 * @example
 * const poolOptions = { log: undefined, size: 16, timeoutMs: { default: 5000, max: maxTimerMs } } satisfies OptionTable<PoolOptions>
 */
export type OptionTable<Options> = {
  readonly [Name in keyof Required<Options>]:
    | Extract<Options[Name], OptionPrimitive>
    | undefined
    | (OptionRules & { readonly default?: Options[Name] })
}

/** As {@link resolveOptions} returns them: an option that has a default is never undefined. */
export type ResolvedOptions<Options, Table> = {
  readonly [Name in keyof Options & keyof Table]: Table[Name] extends {
    readonly default: object
    readonly group: object
  }
    ? ResolvedOptions<Exclude<Options[Name], undefined>, Table[Name]['group']>
    : Table[Name] extends OptionPrimitive | { readonly default: unknown }
      ? Exclude<Options[Name], undefined>
      : Options[Name]
}

/** Value of an option that is no group. */
export type OptionPrimitive = string | number | boolean

/** By a name that the option had earlier, or has in another library. */
const presentNames = new Map([
  ['principal', 'auth'],
  ['authenticate', 'auth'],
  ['documents', 'auth'],
  ['toHttpError', 'auth'],
  ['cors', 'allowedOrigins'],
  ['bounds', 'maxBodyBytes'],
  ['maxCallsPerCaller', 'limits.calls'],
  ['maxTasksPerCaller', 'limits.tasks'],
  ['codec', 'state'],
  ['credentials', 'state'],
  ['stateCodec', 'state'],
  ['clock', 'runtime'],
  ['middleware', 'use'],
])

/**
 * Fills in defaults. Throws a TypeError for options that are no object, for an option of another type, and for one that
 * does not exist; its message suggests the one that was probably meant. The compiler finds such mistakes only in
 * TypeScript, and in JavaScript an ignored option may leave a server open to every caller. Throws a RangeError for a
 * number outside of its bounds.
 *
 * @example
 * resolveOptions(options, handlerOptions, 'serveHttp') // serveHttp has no option `principal`: did you mean `auth`?
 */
export function resolveOptions<Options extends object, Table extends Readonly<Record<keyof Options, unknown>>>(
  options: Options,
  table: Table,
  where: string,
): ResolvedOptions<Options, Table> {
  const problem = findOptionsProblem(options, table, where)
  if (problem !== undefined) throw new TypeError(problem)
  // The compiler does not relate the rows to the members of the type.
  return resolveRows(options, table, '') as ResolvedOptions<Options, Table>
}

function resolveRows(options: object, table: object, prefix: string): object {
  const given = new Map<string, unknown>(Object.entries(options))
  return Object.fromEntries(
    Object.entries(table).map(([name, row]) => [name, resolveOption(prefix + name, given.get(name), rulesOf(row))]),
  )
}

function resolveOption(name: string, given: unknown, rules: OptionRules): unknown {
  const value = given === undefined ? rules.default : given
  if (rules.group !== undefined && typeof value === 'object' && value !== null)
    return resolveRows(value, rules.group, `${name}.`)
  if (given === undefined || typeof rules.default !== 'number' || (given === null && rules.isNullable === true))
    return value
  return checkedNumber(name, given, rules)
}

function rulesOf(row: unknown): OptionRules {
  return typeof row === 'object' && row !== null ? row : { default: row }
}

/**
 * Says that options are no object, or which is the first that does not exist or has a value of another type, also in a
 * group. Undefined when there is no problem.
 */
export function findOptionsProblem(options: unknown, table: object, where: string): string | undefined {
  return findGroupProblem(options, table, { where, path: '' })
}

/** `path` names the group, as in `shedding.hardLimit`. It is empty for the options themselves. */
interface OptionsPlace {
  readonly where: string
  readonly path: string
}

function findGroupProblem(options: unknown, table: object, { where, path }: OptionsPlace): string | undefined {
  const subject = path === '' ? where : `${where}, ${path},`
  if (!isObject(options)) return `${subject} takes an object of options, and was given ${describeGiven(options)}`
  const rows = new Map<string, unknown>(Object.entries(table))
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!rows.has(name)) return `${subject} has no option \`${name}\`: ${adviceFor(name, [...rows.keys()])}`
    const place = { where, path: path === '' ? name : `${path}.${name}` }
    const problem = findValueProblem(value, rulesOf(rows.get(name)), place)
    if (problem !== undefined) return problem
  }
  return undefined
}

function findValueProblem(value: unknown, { group, type }: OptionRules, place: OptionsPlace): string | undefined {
  if (type?.accepts(value) === false) return `${place.where}: ${place.path} must be ${type.name}${describeWrong(value)}`
  return group === undefined || value === false ? undefined : findGroupProblem(value, group, place)
}

/** Empty for an object and an array, which may be of the right kind and have a wrong member. */
function describeWrong(value: unknown): string {
  return typeof value === 'object' && value !== null ? '' : `, and is ${describeGiven(value)}`
}

/** Leaves out the content, which may be a key. */
export function describeGiven(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

function adviceFor(name: string, knownNames: readonly string[]): string {
  const presentName = presentNames.get(name)
  const suggestedName = knownNames.includes(presentName?.split('.')[0] ?? '')
    ? presentName
    : findClosestName(name, knownNames)
  return suggestedName === undefined
    ? `write one of ${knownNames.toSorted().join(', ')}`
    : `did you mean \`${suggestedName}\`?`
}
