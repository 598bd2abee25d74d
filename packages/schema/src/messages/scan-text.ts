import { errorCodes, McpError } from '../basic/mcp-error.ts'

/** How many keys are in the message, its params, and their `_meta`, duplicates included. */
export interface KeyCounts {
  readonly messageKeyCount: number
  readonly paramsKeyCount: number
  readonly metaKeyCount: number
  /** Array items and object members in the whole text. */
  readonly elementCount: number
}

/**
 * Scans a text before `JSON.parse` builds anything from it, and counts the keys, with the duplicates that `JSON.parse`
 * would merge silently. Throws `McpError(parse)` when the limit of depth or of elements is exceeded.
 *
 * For a text that is not JSON the counts mean nothing; `JSON.parse` rejects it afterwards.
 */
export function scanText(text: string, bounds: ParseBounds): KeyCounts {
  const scan: ScanState = {
    text,
    bounds,
    depth: 0,
    elementCount: 0,
    scopeLevel: 0,
    keyStart: 0,
    keyEnd: 0,
    keyCountsByLevel: [0, 0, 0, 0],
  }
  for (let at = 0; at < text.length; at++) {
    const codeUnit = text.charCodeAt(at)
    // Outside strings, most characters are digits and spaces, which one table look-up skips.
    if (codeUnit < 0x80 && structuralCharacterTable[codeUnit] === 1) at = readStructuralCharacter(scan, codeUnit, at)
  }
  const [, messageKeyCount, paramsKeyCount, metaKeyCount] = scan.keyCountsByLevel
  return { messageKeyCount, paramsKeyCount, metaKeyCount, elementCount: scan.elementCount }
}

interface ScanState {
  readonly text: string
  readonly bounds: ParseBounds
  depth: number
  elementCount: number
  /**
   * Innermost open object whose keys are counted: 1 is the message, 2 its params, and 3 their `_meta`. Keys count while
   * this equals `depth`.
   */
  scopeLevel: number
  keyStart: number
  keyEnd: number
  readonly keyCountsByLevel: [number, number, number, number]
}

const levelKeys = ['', 'params', '_meta'] as const

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const structuralCharacters = [quote, comma, openBracket, closeBracket, openBrace, closeBrace]
const structuralCharacterTable = Uint8Array.from({ length: 0x80 }, (_, codeUnit) =>
  Number(structuralCharacters.includes(codeUnit)),
)

function readStructuralCharacter(scan: ScanState, codeUnit: number, index: number): number {
  if (codeUnit === quote) return scanString(scan, index)
  if (codeUnit === comma) countElement(scan)
  else if (codeUnit === openBrace || codeUnit === openBracket) scanOpeningBracket(scan, codeUnit, index)
  else scanClosingBracket(scan)
  return index
}

function scanString(scan: ScanState, start: number): number {
  const { text } = scan
  const end = findStringEnd(text, start)
  if (scan.depth === scan.scopeLevel && text.charCodeAt(skipSpace(text, end + 1)) === colon) {
    scan.keyCountsByLevel[scan.scopeLevel] = (scan.keyCountsByLevel[scan.scopeLevel] ?? 0) + 1
    scan.keyStart = start + 1
    scan.keyEnd = end
  }
  return end
}

/** Up to so many characters, a loop finds the end of a string; in the rest of a longer one, `indexOf` is faster. */
const shortStringLength = 12

function findStringEnd(text: string, start: number): number {
  let index = start + 1
  for (const shortStringEnd = index + shortStringLength; index < shortStringEnd; index++) {
    const codeUnit = text.charCodeAt(index)
    if (codeUnit === quote) return index
    if (codeUnit === backslash) index++
  }
  index = text.indexOf('"', index)
  while (index !== -1 && isEscaped(text, index)) index = text.indexOf('"', index + 1)
  return index === -1 ? text.length : index
}

function isEscaped(text: string, index: number): boolean {
  let precedingIndex = index - 1
  while (text.charCodeAt(precedingIndex) === backslash) precedingIndex--
  return (index - precedingIndex) % 2 === 0
}

function scanOpeningBracket(scan: ScanState, codeUnit: number, index: number): void {
  const { text, bounds } = scan
  if (scan.depth === scan.scopeLevel && codeUnit === openBrace && opensNextLevel(scan)) {
    scan.scopeLevel++
    scan.keyCountsByLevel[scan.scopeLevel] = 0
  }
  if (++scan.depth > bounds.depth) throw messageTooLargeError(`${bounds.depth} levels of objects and arrays`)
  const nextCodeUnit = text.charCodeAt(skipSpace(text, index + 1))
  if (nextCodeUnit !== closeBrace && nextCodeUnit !== closeBracket) countElement(scan)
}

function opensNextLevel({ text, scopeLevel, keyStart, keyEnd }: ScanState): boolean {
  if (scopeLevel === 0) return true
  const writtenKey = text.slice(keyStart, keyEnd)
  return (
    writtenKey === levelKeys[scopeLevel] ||
    (writtenKey.includes('\\') && unescapeKey(writtenKey) === levelKeys[scopeLevel])
  )
}

function unescapeKey(writtenKey: string): string {
  try {
    return String(JSON.parse(`"${writtenKey}"`))
  } catch {
    return writtenKey
  }
}

function scanClosingBracket(scan: ScanState): void {
  if (scan.depth === 0) return
  if (scan.depth === scan.scopeLevel) scan.scopeLevel--
  scan.depth--
}

function countElement(scan: ScanState): void {
  const { bounds } = scan
  if (++scan.elementCount > bounds.elements)
    throw messageTooLargeError(`${bounds.elements} elements of arrays and members of objects`)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(codeUnit: number): boolean {
  return codeUnit === 0x20 || codeUnit === 0x0a || codeUnit === 0x0d || codeUnit === 0x09
}

/** Size limits of a message, each enforced before anything is built from the text. */
export interface ParseBounds {
  /** Length of the text in UTF-8 bytes. */
  readonly bytes: number
  /** Nested objects and arrays, the message itself included. */
  readonly depth: number
  /** Array items and object members in the text. */
  readonly elements: number
}

/** What a parser allows by default: 4 MiB, 256 levels, 100,000 elements. */
export const defaultBounds: ParseBounds = {
  bytes: 4 * 1024 * 1024,
  // limit: count | levels of a JSON body | 400
  depth: 256,
  // limit: count | values and members of a JSON body | 400
  elements: 100_000,
}

/** Throws `McpError(parse)` when the text exceeds the limit in UTF-8 bytes. */
export function checkByteLength(text: string, bounds: ParseBounds): void {
  // A UTF-16 code unit takes one to three bytes, so their number decides for most texts.
  if (text.length * 3 <= bounds.bytes) return
  if (text.length > bounds.bytes || countUtf8Bytes(text) > bounds.bytes)
    throw messageTooLargeError(`${bounds.bytes} bytes`)
}

function messageTooLargeError(limit: string): McpError {
  return new McpError(errorCodes.parse, `The message is too large: more than ${limit}`)
}

function countUtf8Bytes(text: string): number {
  let byteCount = text.length
  for (let at = 0; at < text.length; at++) {
    const codeUnit = text.charCodeAt(at)
    if (codeUnit < 0x80) continue
    // Each half of a surrogate pair adds one byte, because a pair has two code units and four bytes. A lone half is
    // sent as U+FFFD, which has three.
    byteCount += codeUnit < 0x800 || isInSurrogatePair(text, at) ? 1 : 2
  }
  return byteCount
}

function isInSurrogatePair(text: string, index: number): boolean {
  const codeUnit = text.charCodeAt(index)
  if (codeUnit >= 0xd800 && codeUnit < 0xdc00) return isLowSurrogate(text.charCodeAt(index + 1))
  return isLowSurrogate(codeUnit) && isHighSurrogate(text.charCodeAt(index - 1))
}

function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit < 0xdc00
}

function isLowSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xdc00 && codeUnit < 0xe000
}
