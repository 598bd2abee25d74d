/** Code points, as pairs of the first and the last, ascending. */
export type CodePoints = readonly number[]

/** A regular expression, as far as its matching time depends on it. */
export type PatternNode =
  | { readonly kind: 'set'; readonly points: CodePoints }
  | { readonly kind: 'start' | 'assertion' }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly behind: boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }

/** Thrown for a regular expression whose matching time is not bounded; the message says why. */
export class UnboundedPattern extends Error {}

const lastPoint = 0x10ffff
const everything: CodePoints = [0, lastPoint]
const digits: CodePoints = [48, 57]
const wordCharacters: CodePoints = [48, 57, 65, 90, 95, 95, 97, 122]
const spaces: CodePoints = [
  9, 13, 32, 32, 160, 160, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f,
].concat([0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff])
const lineEnds: CodePoints = [10, 10, 13, 13, 0x2028, 0x2029]

const named: ReadonlyMap<string, CodePoints> = new Map([
  ['d', digits],
  ['D', complement(digits)],
  ['w', wordCharacters],
  ['W', complement(wordCharacters)],
  ['s', spaces],
  ['S', complement(spaces)],
])
const controls: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['0', 0],
  ['b', 8],
])

/**
 * Parses a regular expression that `new RegExp(pattern, 'u')` takes; a Unicode property counts as every code point.
 *
 * @throws UnboundedPattern for a back reference, and for syntax that is not known here.
 */
export function parsePattern(pattern: string): PatternNode {
  return choice(readerOf([...pattern]))
}

/** A text of which some has been read. */
interface Reader {
  peek(ahead?: number): string | undefined
  next(): string
  /** Reads what is expected, or nothing. */
  take(expected: string): boolean
  takeUntil(end: string): string
}

function readerOf(text: readonly string[]): Reader {
  let at = 0
  return {
    peek: (ahead = 0) => text[at + ahead],
    next: () => text[at++] ?? '',
    take: (expected) => {
      for (let index = 0; index < expected.length; index++) if (text[at + index] !== expected[index]) return false
      at += expected.length
      return true
    },
    takeUntil: (end) => {
      const from = at
      while (at < text.length && text[at] !== end) at += 1
      at += 1
      return text.slice(from, at - 1).join('')
    },
  }
}

function choice(reader: Reader): PatternNode {
  const first = sequence(reader)
  const parts = [first]
  while (reader.take('|')) parts.push(sequence(reader))
  return parts.length === 1 ? first : { kind: 'choice', parts }
}

function sequence(reader: Reader): PatternNode {
  const parts: PatternNode[] = []
  for (let next = reader.peek(); next !== undefined && next !== '|' && next !== ')'; next = reader.peek()) {
    parts.push(quantified(atom(reader), reader))
  }
  return { kind: 'sequence', parts }
}

function quantified(body: PatternNode, reader: Reader): PatternNode {
  const counts = quantifier(reader)
  if (counts === undefined) return body
  reader.take('?')
  return { kind: 'repeat', body, ...counts }
}

function quantifier(reader: Reader): { readonly min: number; readonly max: number } | undefined {
  if (reader.take('*')) return { min: 0, max: Infinity }
  if (reader.take('+')) return { min: 1, max: Infinity }
  if (reader.take('?')) return { min: 0, max: 1 }
  if (!reader.take('{')) return undefined
  const [least = '', most = least] = reader.takeUntil('}').split(',')
  return { min: Number(least), max: most === '' ? Infinity : Number(most) }
}

function atom(reader: Reader): PatternNode {
  if (reader.take('^')) return { kind: 'start' }
  if (reader.take('$')) return { kind: 'assertion' }
  if (reader.take('(')) return group(reader)
  if (reader.take('[')) return { kind: 'set', points: characterClass(reader) }
  if (reader.take('.')) return { kind: 'set', points: complement(lineEnds) }
  if (reader.take('\\b') || reader.take('\\B')) return { kind: 'assertion' }
  return { kind: 'set', points: character(reader) }
}

function group(reader: Reader): PatternNode {
  const behind = reader.take('?<=') || reader.take('?<!')
  const look = behind || reader.take('?=') || reader.take('?!')
  if (!look && !reader.take('?:') && reader.peek() === '?') {
    if (!reader.take('?<')) throw new UnboundedPattern('has a group of a kind that is not known here')
    reader.takeUntil('>')
  }
  const body = choice(reader)
  reader.next()
  return look ? { kind: 'look', body, behind } : body
}

function characterClass(reader: Reader): CodePoints {
  const isNegated = reader.take('^')
  const points: number[] = []
  while (!reader.take(']')) points.push(...classMember(reader))
  const sorted = union(points)
  if (!isNegated) return sorted
  // A property is taken for everything, so that its complement must be as well.
  const [first, last] = sorted
  return first === 0 && last === lastPoint ? everything : complement(sorted)
}

function classMember(reader: Reader): CodePoints {
  const from = character(reader)
  if (reader.peek() !== '-' || reader.peek(1) === ']') return from
  reader.next()
  return [from[0] ?? 0, character(reader)[1] ?? lastPoint]
}

/** One character, or the set that an escape stands for. */
function character(reader: Reader): CodePoints {
  const plain = reader.next()
  if (plain !== '\\') return one(pointOf(plain))
  const escaped = reader.next()
  const set = named.get(escaped)
  if (set !== undefined) return set
  if (escaped === 'p' || escaped === 'P') {
    reader.takeUntil('}')
    return everything
  }
  if (/[1-9k]/.test(escaped)) throw new UnboundedPattern('has a back reference')
  return one(escapedPoint(escaped, reader))
}

function escapedPoint(escaped: string, reader: Reader): number {
  if (escaped === 'x') return hex(2, reader)
  if (escaped === 'c') return pointOf(reader.next()) % 32
  if (escaped === 'u') return unicodePoint(reader)
  return controls.get(escaped) ?? pointOf(escaped)
}

function unicodePoint(reader: Reader): number {
  if (reader.take('{')) return Number.parseInt(reader.takeUntil('}'), 16)
  const unit = hex(4, reader)
  if (unit < 0xd800 || unit > 0xdbff || !reader.take('\\u')) return unit
  return 0x10000 + (unit - 0xd800) * 0x400 + (hex(4, reader) - 0xdc00)
}

function hex(length: number, reader: Reader): number {
  return Number.parseInt(Array.from({ length }, () => reader.next()).join(''), 16)
}

function pointOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function one(point: number): CodePoints {
  return [point, point]
}

/** The points that are not among those given, which are ascending and apart. */
function complement(points: CodePoints): CodePoints {
  const others: number[] = []
  let next = 0
  for (let at = 0; at < points.length; at += 2) {
    const [first = 0, last = 0] = points.slice(at, at + 2)
    if (first > next) others.push(next, first - 1)
    next = last + 1
  }
  return next > lastPoint ? others : others.concat([next, lastPoint])
}

/** Pairs in any order, as pairs that are ascending and apart. */
function union(points: CodePoints): CodePoints {
  const pairs: [number, number][] = []
  for (let at = 0; at < points.length; at += 2) pairs.push([points[at] ?? 0, points[at + 1] ?? 0])
  const merged: number[] = []
  for (const [first, last] of pairs.toSorted(([a], [b]) => a - b)) {
    const end = merged.at(-1)
    if (end !== undefined && first <= end + 1) merged[merged.length - 1] = Math.max(end, last)
    else merged.push(first, last)
  }
  return merged
}
