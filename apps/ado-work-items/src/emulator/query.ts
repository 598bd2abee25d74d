import { ServiceError } from './service-error.ts'

/** Field values of a work item. */
type Fields = Readonly<Record<string, unknown>>
type Predicate = (fields: Fields) => boolean

/** A parsed query for work items. */
export interface Query {
  readonly matches: Predicate
  readonly compare: (left: Fields, right: Fields) => number
}

/** The values of a query's macros, `@project` and `@Me`. */
export interface Macros {
  readonly project: string
  readonly me: string
}

const token = /\s*(\[[\w.]+\]|'(?:[^']|'')*'|\d+|<=|>=|[=()]|@?[A-Za-z]+)/y

/**
 * Parses the part of WIQL that this application sends: comparisons, `CONTAINS`, `AND`, `OR`, parentheses, `@project` and
 * `@Me`, and one field to order by. Throws {@link ServiceError}, which quotes an unexpected part.
 */
export function parseQuery(text: string, macros: Macros): Query {
  const [, condition = '', field = ''] =
    /^SELECT \[System\.Id\] FROM WorkItems WHERE (.*) ORDER BY \[([\w.]+)\] DESC$/s.exec(text) ?? []
  const tokens = readTokens(condition)
  let at = 0
  const accept = (word: string): boolean => tokens[at] === word && ++at > 0
  const either = (): Predicate => joined('OR', both, (parts) => (fields) => parts.some((part) => part(fields)))
  const both = (): Predicate => joined('AND', term, (parts) => (fields) => parts.every((part) => part(fields)))
  const joined = (word: string, part: () => Predicate, join: (parts: readonly Predicate[]) => Predicate): Predicate => {
    const parts = [part()]
    while (accept(word)) parts.push(part())
    return join(parts)
  }
  const term = (): Predicate => {
    if (!accept('(')) return comparison(tokens[at++], tokens[at++], tokens[at++], macros)
    const inner = either()
    if (!accept(')')) throw queryError(`expecting ), found ${tokens[at] ?? 'the end'}`)
    return inner
  }
  const matches = either()
  if (at < tokens.length) throw queryError(`expecting the end, found ${tokens[at]}`)
  return { matches, compare: (left, right) => rank(right[field], left[field]) }
}

function readTokens(text: string): readonly string[] {
  const tokens: string[] = []
  for (token.lastIndex = 0; token.lastIndex < text.length; ) {
    const at = token.lastIndex
    const [, found] = token.exec(text) ?? []
    if (found === undefined) throw queryError(`cannot read "${text.slice(at, at + 20)}"`)
    tokens.push(found)
  }
  return tokens
}

const operators: ReadonlyMap<string, (value: unknown, wanted: string) => boolean> = new Map([
  ['=', (value: unknown, wanted: string) => rank(value, wanted) === 0],
  ['<=', (value: unknown, wanted: string) => rank(value, wanted) <= 0],
  ['>=', (value: unknown, wanted: string) => rank(value, wanted) >= 0],
  ['CONTAINS', (value: unknown, wanted: string) => lower(value).includes(lower(wanted))],
])

function comparison(field = '', sign = '', literal = '', macros: Macros): Predicate {
  const test = operators.get(sign)
  if (!field.startsWith('[') || test === undefined || literal === '')
    throw queryError(`expecting a comparison, found ${field} ${sign} ${literal}`)
  const wanted = valueOf(literal, macros)
  return (fields) => {
    const value = fields[field.slice(1, -1)]
    // A person is compared by each of its spellings.
    const values = typeof value === 'object' && value !== null ? Object.values(value) : [value]
    return values.some((one) => test(one, wanted))
  }
}

function valueOf(literal: string, { project, me }: Macros): string {
  if (literal === '@project') return project
  if (literal === '@Me') return me
  return literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal
}

function rank(left: unknown, right: unknown): number {
  if (typeof left === 'number') return left - Number(right)
  const [a, b] = [lower(left), lower(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

function lower(value: unknown): string {
  return String(value ?? '').toLowerCase()
}

function queryError(problem: string): ServiceError {
  const message = `TF51006: The query statement is wrong: ${problem}.`
  return new ServiceError(400, 'WorkItemTrackingQueryException', message)
}
