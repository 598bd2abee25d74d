/** Code points, as pairs of the first and the last, ascending. */
export type CodePoints = readonly number[]

/** A regular expression, as far as its matching time depends on it. */
export type PatternNode =
  | { readonly kind: 'set'; readonly codePoints: CodePoints }
  | { readonly kind: 'start' | 'assertion' }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly isBehind: boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }

/** Thrown for a regular expression whose matching time is not bounded. The message says why. */
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
 * Parses a regular expression that `new RegExp(pattern, 'u')` takes. A Unicode property counts as every code point.
 *
 * @throws UnboundedPatternError for a back reference, and for syntax that is not known here.
 */
export function parsePattern(pattern: string): PatternNode {
  return parseChoice(createPatternReader([...pattern]))
}

/** A text of which some has been read. */
interface PatternReader {
  peek(ahead?: number): string | undefined
  next(): string
  /** Skips the expected text if it comes next, and returns true if it did. */
  skipIf(expected: string): boolean
  takeUntil(end: string): string
}

function createPatternReader(text: readonly string[]): PatternReader {
  let position = 0
  return {
    peek: (ahead = 0) => text[position + ahead],
    next: () => text[position++] ?? '',
    skipIf: (expected) => {
      for (let index = 0; index < expected.length; index++) if (text[position + index] !== expected[index]) return false
      position += expected.length
      return true
    },
    takeUntil: (end) => {
      const start = position
      while (position < text.length && text[position] !== end) position += 1
      position += 1
      return text.slice(start, position - 1).join('')
    },
  }
}

function parseChoice(reader: PatternReader): PatternNode {
  const firstSequence = parseSequence(reader)
  const parts = [firstSequence]
  while (reader.skipIf('|')) parts.push(parseSequence(reader))
  return parts.length === 1 ? firstSequence : { kind: 'choice', parts }
}

function parseSequence(reader: PatternReader): PatternNode {
  const parts: PatternNode[] = []
  for (
    let nextCharacter = reader.peek();
    nextCharacter !== undefined && nextCharacter !== '|' && nextCharacter !== ')';
    nextCharacter = reader.peek()
  ) {
    parts.push(parseQuantifiedAtom(parseAtom(reader), reader))
  }
  return { kind: 'sequence', parts }
}

function parseQuantifiedAtom(body: PatternNode, reader: PatternReader): PatternNode {
  const repeatCounts = parseQuantifier(reader)
  if (repeatCounts === undefined) return body
  reader.skipIf('?')
  return { kind: 'repeat', body, ...repeatCounts }
}

function parseQuantifier(reader: PatternReader): { readonly min: number; readonly max: number } | undefined {
  if (reader.skipIf('*')) return { min: 0, max: Infinity }
  if (reader.skipIf('+')) return { min: 1, max: Infinity }
  if (reader.skipIf('?')) return { min: 0, max: 1 }
  if (!reader.skipIf('{')) return undefined
  const [minDigits = '', maxDigits = minDigits] = reader.takeUntil('}').split(',')
  return { min: Number(minDigits), max: maxDigits === '' ? Infinity : Number(maxDigits) }
}

function parseAtom(reader: PatternReader): PatternNode {
  if (reader.skipIf('^')) return { kind: 'start' }
  if (reader.skipIf('$')) return { kind: 'assertion' }
  if (reader.skipIf('(')) return parseGroup(reader)
  if (reader.skipIf('[')) return { kind: 'set', codePoints: parseCharacterClass(reader) }
  if (reader.skipIf('.')) return { kind: 'set', codePoints: complementOf(lineEnds) }
  if (reader.skipIf('\\b') || reader.skipIf('\\B')) return { kind: 'assertion' }
  return { kind: 'set', codePoints: parseCharacter(reader) }
}

function parseGroup(reader: PatternReader): PatternNode {
  const isLookbehind = reader.skipIf('?<=') || reader.skipIf('?<!')
  const isLookaround = isLookbehind || reader.skipIf('?=') || reader.skipIf('?!')
  if (!isLookaround && !reader.skipIf('?:') && reader.peek() === '?') {
    if (!reader.skipIf('?<')) throw new UnboundedPatternError('has a group of a kind that is not known here')
    reader.takeUntil('>')
  }
  const body = parseChoice(reader)
  reader.next()
  return isLookaround ? { kind: 'look', body, isBehind: isLookbehind } : body
}

function parseCharacterClass(reader: PatternReader): CodePoints {
  const isNegated = reader.skipIf('^')
  const points: number[] = []
  while (!reader.skipIf(']')) points.push(...parseClassMember(reader))
  const sortedPoints = mergeRanges(points)
  if (!isNegated) return sortedPoints
  // A property is taken for everything, so that its complement must be as well.
  const [firstPoint, lastPoint] = sortedPoints
  return firstPoint === 0 && lastPoint === maxCodePoint ? allCodePoints : complementOf(sortedPoints)
}

function parseClassMember(reader: PatternReader): CodePoints {
  const firstCharacter = parseCharacter(reader)
  if (reader.peek() !== '-' || reader.peek(1) === ']') return firstCharacter
  reader.next()
  return [firstCharacter[0] ?? 0, parseCharacter(reader)[1] ?? maxCodePoint]
}

/** One character, or the set that an escape denotes. */
function parseCharacter(reader: PatternReader): CodePoints {
  const nextCharacter = reader.next()
  if (nextCharacter !== '\\') return singlePointRange(codePointOf(nextCharacter))
  const escapeCharacter = reader.next()
  const classPoints = classEscapes.get(escapeCharacter)
  if (classPoints !== undefined) return classPoints
  if (escapeCharacter === 'p' || escapeCharacter === 'P') {
    reader.takeUntil('}')
    return allCodePoints
  }
  if (/[1-9k]/.test(escapeCharacter)) throw new UnboundedPatternError('has a back reference')
  return singlePointRange(parseEscapedPoint(escapeCharacter, reader))
}

function parseEscapedPoint(escapeCharacter: string, reader: PatternReader): number {
  if (escapeCharacter === 'x') return parseHexDigits(2, reader)
  if (escapeCharacter === 'c') return codePointOf(reader.next()) % 32
  if (escapeCharacter === 'u') return parseUnicodePoint(reader)
  return controlEscapes.get(escapeCharacter) ?? codePointOf(escapeCharacter)
}

function parseUnicodePoint(reader: PatternReader): number {
  if (reader.skipIf('{')) return Number.parseInt(reader.takeUntil('}'), 16)
  const codeUnit = parseHexDigits(4, reader)
  if (codeUnit < 0xd800 || codeUnit > 0xdbff || !reader.skipIf('\\u')) return codeUnit
  return 0x10000 + (codeUnit - 0xd800) * 0x400 + (parseHexDigits(4, reader) - 0xdc00)
}

function parseHexDigits(digitCount: number, reader: PatternReader): number {
  return Number.parseInt(Array.from({ length: digitCount }, () => reader.next()).join(''), 16)
}

function codePointOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function singlePointRange(point: number): CodePoints {
  return [point, point]
}

/** The points that are not among those given, which are ascending and apart. */
function complementOf(points: CodePoints): CodePoints {
  const complementPoints: number[] = []
  let nextPoint = 0
  for (let at = 0; at < points.length; at += 2) {
    const [first = 0, last = 0] = points.slice(at, at + 2)
    if (first > nextPoint) complementPoints.push(nextPoint, first - 1)
    nextPoint = last + 1
  }
  return nextPoint > maxCodePoint ? complementPoints : complementPoints.concat([nextPoint, maxCodePoint])
}

/** Pairs in any order, as pairs that are ascending and apart. */
function mergeRanges(points: CodePoints): CodePoints {
  const pairs: [number, number][] = []
  for (let at = 0; at < points.length; at += 2) pairs.push([points[at] ?? 0, points[at + 1] ?? 0])
  const mergedPoints: number[] = []
  for (const [first, last] of pairs.toSorted(([a], [b]) => a - b)) {
    const lastRangeEnd = mergedPoints.at(-1)
    if (lastRangeEnd !== undefined && first <= lastRangeEnd + 1)
      mergedPoints[mergedPoints.length - 1] = Math.max(lastRangeEnd, last)
    else mergedPoints.push(first, last)
  }
  return mergedPoints
}
