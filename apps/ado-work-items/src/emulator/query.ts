/** Field values of a work item, with people as plain names. */
type Fields = Readonly<Record<string, unknown>>
type Predicate = (fields: Fields) => boolean

/** A parsed query for work items. */
export interface Query {
  readonly matches: Predicate
  readonly compare: (left: Fields, right: Fields) => number
}

/** The values of a query's macros. */
export interface Macros {
  /** `@project` */
  readonly project: string
  /** `@Me` */
  readonly me: string
}

/** The query is invalid. The message quotes the unexpected part. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}

/** The maximum length of a query in the service, in characters. */
const maxQueryLength = 32_000
const deepest = 50
const token = /\s*(?:\[([\w. ]+)\]|'((?:[^']|'')*)'|(-?\d+)(?![\w.])|(<=|>=|<>|[=<>(),])|(@?[A-Za-z][\w.]*))/y

type Token = { readonly kind: 'field' | 'text' | 'number' | 'sign' | 'word'; readonly value: string }
const kinds = ['field', 'text', 'number', 'sign', 'word'] as const

/**
 * Parses the subset of WIQL that clients of one project use: `SELECT … FROM WorkItems WHERE`, comparisons, `CONTAINS`,
 * `AND`, `OR`, parentheses, `@project`, `@Me` and `ORDER BY`. Throws {@link QueryError}.
 */
export function parseQuery(text: string, macros: Macros): Query {
  const tokens = readTokens(text)
  const reader = createReader(tokens, macros)
  reader.expect('SELECT')
  do reader.field()
  while (reader.accept(','))
  reader.expect('FROM')
  reader.expect('WorkItems')
  const matches = reader.accept('WHERE') ? reader.either(0) : () => true
  const compare = reader.accept('ORDER') ? reader.order() : () => 0
  reader.end()
  return { matches, compare }
}

function readTokens(text: string): readonly Token[] {
  if (text.length > maxQueryLength) throw new QueryError(`the query has more than ${maxQueryLength} characters`)
  const tokens: Token[] = []
  const end = text.trimEnd().length
  for (token.lastIndex = 0; token.lastIndex < end; ) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (match === null) throw new QueryError(`cannot read "${text.slice(at, at + 20).trim()}"`)
    const index = match.slice(1).findIndex((group) => group !== undefined)
    tokens.push({ kind: kinds[index] ?? 'word', value: (match[index + 1] ?? '').replaceAll("''", "'") })
  }
  return tokens
}

function createReader(tokens: readonly Token[], macros: Macros) {
  let at = 0
  const fail = (wanted: string): never => {
    throw new QueryError(`expecting ${wanted}, found ${tokens[at]?.value ?? 'the end'}`)
  }
  const accept = (word: string): boolean => {
    const next = tokens[at]
    const found = (next?.kind === 'word' || next?.kind === 'sign') && next.value.toLowerCase() === word.toLowerCase()
    if (found) at++
    return found
  }
  const expect = (word: string): void => {
    if (!accept(word)) fail(word)
  }
  const take = (kind: Token['kind']): string | undefined =>
    tokens[at]?.kind === kind ? tokens[at++]?.value : undefined
  const field = (): string => take('field') ?? fail('a field in brackets')
  const literal = (): string => {
    if (accept('@project')) return macros.project
    if (accept('@Me')) return macros.me
    return take('text') ?? take('number') ?? fail('a value')
  }

  const either = (depth: number): Predicate => {
    const parts = [both(depth)]
    while (accept('OR')) parts.push(both(depth))
    return (fields) => parts.some((part) => part(fields))
  }
  const both = (depth: number): Predicate => {
    const parts = [term(depth)]
    while (accept('AND')) parts.push(term(depth))
    return (fields) => parts.every((part) => part(fields))
  }
  const term = (depth: number): Predicate => {
    if (!accept('(')) return comparison(field(), operator(), literal())
    if (depth === deepest) fail('fewer parentheses')
    const inner = either(depth + 1)
    expect(')')
    return inner
  }
  const operator = (): Operator => operators.find((row) => accept(row.sign)) ?? fail('an operator')
  const order = () => {
    expect('BY')
    const name = field()
    const direction = accept('DESC') ? -1 : (accept('ASC'), 1)
    return (left: Fields, right: Fields) => direction * rank(left[name], right[name])
  }
  const end = (): void => {
    if (at < tokens.length) fail('the end of the query')
  }
  return { accept, expect, field, either, order, end }
}

interface Operator {
  readonly sign: string
  readonly test: (value: unknown, wanted: string) => boolean
}

const operators: readonly Operator[] = [
  { sign: '=', test: (value, wanted) => rank(value, wanted) === 0 },
  { sign: '<>', test: (value, wanted) => rank(value, wanted) !== 0 },
  { sign: '<=', test: (value, wanted) => rank(value, wanted) <= 0 },
  { sign: '>=', test: (value, wanted) => rank(value, wanted) >= 0 },
  { sign: '<', test: (value, wanted) => rank(value, wanted) < 0 },
  { sign: '>', test: (value, wanted) => rank(value, wanted) > 0 },
  { sign: 'CONTAINS', test: (value, wanted) => lower(value).includes(lower(wanted)) },
]

function comparison(field: string, operator: Operator, wanted: string): Predicate {
  return (fields) => {
    const value = fields[field]
    return typeof value === 'object' && value !== null
      ? Object.values(value).some((part) => operator.test(part, wanted))
      : operator.test(value, wanted)
  }
}

function rank(left: unknown, right: unknown): number {
  if (typeof left === 'number') return left - Number(right)
  const [a, b] = [lower(left), lower(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

function lower(value: unknown): string {
  return String(value ?? '').toLowerCase()
}
