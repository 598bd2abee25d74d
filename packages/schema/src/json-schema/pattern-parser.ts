/** Code points, as pairs of the first and the last, ascending. */
export type CodePoints = readonly number[]

/** A regular expression, as far as its matching time depends on it. */
export type PatternNode =
  | { readonly kind: 'set'; readonly points: CodePoints }
  | { readonly kind: 'start' | 'assertion' }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly isBehind: boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }

/** Thrown for a regular expression whose matching time is not bounded; the message says why. */
export class UnboundedPatternError extends Error {}

const maxCodePoint = 0x10ffff
const allCodePoints: CodePoints = [0, maxCodePoint]
const digits: CodePoints = [48, 57]
const wordCharacters: CodePoints = [48, 57, 65, 90, 95, 95, 97, 122]
const spaceCharacters: CodePoints = [
  9, 13, 32, 32, 160, 160, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f,
].concat([0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff])
const lineEnds: CodePoints = [10, 10, 13, 13, 0x2028, 0x2029]

const classEscapes: ReadonlyMap<string, CodePoints> = new Map([
  ['d', digits],
  ['D', complementOf(digits)],
  ['w', wordCharacters],
  ['W', complementOf(wordCharacters)],
  ['s', spaceCharacters],
  ['S', complementOf(spaceCharacters)],
])
const controlEscapes: ReadonlyMap<string, number> = new Map([
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
  return parseChoice(createPatternReader([...pattern]))
}

/** A text of which some has been read. */
interface PatternReader {
  peek(ahead?: number): string | undefined
  next(): string
  /** Reads what is expected, or nothing. */
  take(expected: string): boolean
  takeUntil(end: string): string
}

function createPatternReader(text: readonly string[]): PatternReader {
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

function parseChoice(reader: PatternReader): PatternNode {
  const first = parseSequence(reader)
  const parts = [first]
  while (reader.take('|')) parts.push(parseSequence(reader))
  return parts.length === 1 ? first : { kind: 'choice', parts }
}

function parseSequence(reader: PatternReader): PatternNode {
  const parts: PatternNode[] = []
  for (let next = reader.peek(); next !== undefined && next !== '|' && next !== ')'; next = reader.peek()) {
    parts.push(parseQuantifiedAtom(parseAtom(reader), reader))
  }
  return { kind: 'sequence', parts }
}

function parseQuantifiedAtom(body: PatternNode, reader: PatternReader): PatternNode {
  const repeatCounts = parseQuantifier(reader)
  if (repeatCounts === undefined) return body
  reader.take('?')
  return { kind: 'repeat', body, ...repeatCounts }
}

function parseQuantifier(reader: PatternReader): { readonly min: number; readonly max: number } | undefined {
  if (reader.take('*')) return { min: 0, max: Infinity }
  if (reader.take('+')) return { min: 1, max: Infinity }
  if (reader.take('?')) return { min: 0, max: 1 }
  if (!reader.take('{')) return undefined
  const [least = '', most = least] = reader.takeUntil('}').split(',')
  return { min: Number(least), max: most === '' ? Infinity : Number(most) }
}

function parseAtom(reader: PatternReader): PatternNode {
  if (reader.take('^')) return { kind: 'start' }
  if (reader.take('$')) return { kind: 'assertion' }
  if (reader.take('(')) return parseGroup(reader)
  if (reader.take('[')) return { kind: 'set', points: parseCharacterClass(reader) }
  if (reader.take('.')) return { kind: 'set', points: complementOf(lineEnds) }
  if (reader.take('\\b') || reader.take('\\B')) return { kind: 'assertion' }
  return { kind: 'set', points: parseCharacter(reader) }
}

function parseGroup(reader: PatternReader): PatternNode {
  const isLookbehind = reader.take('?<=') || reader.take('?<!')
  const isLookaround = isLookbehind || reader.take('?=') || reader.take('?!')
  if (!isLookaround && !reader.take('?:') && reader.peek() === '?') {
    if (!reader.take('?<')) throw new UnboundedPatternError('has a group of a kind that is not known here')
    reader.takeUntil('>')
  }
  const body = parseChoice(reader)
  reader.next()
  return isLookaround ? { kind: 'look', body, isBehind: isLookbehind } : body
}

function parseCharacterClass(reader: PatternReader): CodePoints {
  const isNegated = reader.take('^')
  const points: number[] = []
  while (!reader.take(']')) points.push(...parseClassMember(reader))
  const sortedPoints = mergeRanges(points)
  if (!isNegated) return sortedPoints
  // A property is taken for everything, so that its complement must be as well.
  const [first, last] = sortedPoints
  return first === 0 && last === maxCodePoint ? allCodePoints : complementOf(sortedPoints)
}

function parseClassMember(reader: PatternReader): CodePoints {
  const from = parseCharacter(reader)
  if (reader.peek() !== '-' || reader.peek(1) === ']') return from
  reader.next()
  return [from[0] ?? 0, parseCharacter(reader)[1] ?? maxCodePoint]
}

/** One character, or the set that an escape stands for. */
function parseCharacter(reader: PatternReader): CodePoints {
  const nextCharacter = reader.next()
  if (nextCharacter !== '\\') return toCodePoints(codePointOf(nextCharacter))
  const escapeCharacter = reader.next()
  const classPoints = classEscapes.get(escapeCharacter)
  if (classPoints !== undefined) return classPoints
  if (escapeCharacter === 'p' || escapeCharacter === 'P') {
    reader.takeUntil('}')
    return allCodePoints
  }
  if (/[1-9k]/.test(escapeCharacter)) throw new UnboundedPatternError('has a back reference')
  return toCodePoints(parseEscapedPoint(escapeCharacter, reader))
}

function parseEscapedPoint(escapeCharacter: string, reader: PatternReader): number {
  if (escapeCharacter === 'x') return parseHexDigits(2, reader)
  if (escapeCharacter === 'c') return codePointOf(reader.next()) % 32
  if (escapeCharacter === 'u') return parseUnicodePoint(reader)
  return controlEscapes.get(escapeCharacter) ?? codePointOf(escapeCharacter)
}

function parseUnicodePoint(reader: PatternReader): number {
  if (reader.take('{')) return Number.parseInt(reader.takeUntil('}'), 16)
  const codeUnit = parseHexDigits(4, reader)
  if (codeUnit < 0xd800 || codeUnit > 0xdbff || !reader.take('\\u')) return codeUnit
  return 0x10000 + (codeUnit - 0xd800) * 0x400 + (parseHexDigits(4, reader) - 0xdc00)
}

function parseHexDigits(length: number, reader: PatternReader): number {
  return Number.parseInt(Array.from({ length }, () => reader.next()).join(''), 16)
}

function codePointOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function toCodePoints(point: number): CodePoints {
  return [point, point]
}

/** The points that are not among those given, which are ascending and apart. */
function complementOf(points: CodePoints): CodePoints {
  const complementPoints: number[] = []
  let next = 0
  for (let at = 0; at < points.length; at += 2) {
    const [first = 0, last = 0] = points.slice(at, at + 2)
    if (first > next) complementPoints.push(next, first - 1)
    next = last + 1
  }
  return next > maxCodePoint ? complementPoints : complementPoints.concat([next, maxCodePoint])
}

/** Pairs in any order, as pairs that are ascending and apart. */
function mergeRanges(points: CodePoints): CodePoints {
  const pairs: [number, number][] = []
  for (let at = 0; at < points.length; at += 2) pairs.push([points[at] ?? 0, points[at + 1] ?? 0])
  const mergedPoints: number[] = []
  for (const [first, last] of pairs.toSorted(([a], [b]) => a - b)) {
    const end = mergedPoints.at(-1)
    if (end !== undefined && first <= end + 1) mergedPoints[mergedPoints.length - 1] = Math.max(end, last)
    else mergedPoints.push(first, last)
  }
  return mergedPoints
}
