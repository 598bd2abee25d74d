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
 * Fills in defaults. Throws a TypeError for options that are no object, and for an option that does not exist; its
 * message suggests the one that was probably meant. The compiler finds such mistakes only in TypeScript, and in
 * JavaScript an ignored option may leave a server open to every caller. Throws a RangeError for a number outside of its
 * bounds.
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
 * Says that options are no object, or which is the first that does not exist, also in a group. Undefined when there is
 * no problem.
 */
export function findOptionsProblem(options: unknown, table: object, where: string): string | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return `${where} takes an object of options, and was given ${describeGiven(options)}`
  const rows = new Map<string, unknown>(Object.entries(table))
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!rows.has(name)) return `${where} has no option \`${name}\`: ${adviceFor(name, [...rows.keys()])}`
    const { group } = rulesOf(rows.get(name))
    const problem = group && value !== false ? findOptionsProblem(value, group, `${where}, ${name},`) : undefined
    if (problem !== undefined) return problem
  }
  return undefined
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
