import { type ParseBounds, tooMuch } from './bounds.ts'
import { metaKeys } from './meta-keys.ts'

/** What makes a text's keys ambiguous, although it is JSON. */
export interface KeyFlaw {
  readonly key: string
  readonly message: string
}

/**
 * Reads a text once, before `JSON.parse` builds anything from it: throws `McpError(parse)` when it breaks the bounds in
 * depth or elements, and returns the first key that another reader could take differently.
 *
 * What it says holds as far as the text is JSON; `JSON.parse` stops where this stops to understand.
 */
export function scanText(text: string, bounds: ParseBounds): KeyFlaw | undefined {
  const scan: Scan = { text, bounds, depth: 0, elements: 0, level: 0, key: '', seen: [0, 0, 0, 0], flaw: undefined }
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = readString(scan, at)
        break
      case comma:
        countElement(scan)
        break
      case openBrace:
      case openBracket:
        open(scan, at)
        break
      case closeBrace:
      case closeBracket:
        close(scan)
    }
  }
  return scan.flaw
}

interface Scan {
  readonly text: string
  readonly bounds: ParseBounds
  depth: number
  elements: number
  /** How many of `levels` enclose the position; keys are looked at while it equals the depth. */
  level: number
  /** The last key read in the innermost of these. */
  key: string
  /** Bits of the keys that stood in each. */
  readonly seen: [number, number, number, number]
  flaw: KeyFlaw | undefined
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** An object whose keys a gateway may act upon: the message, its params, and their `_meta`. */
interface Level {
  readonly path: string
  /** The key of the level above that leads here. */
  readonly under: string
  /** A bit for each known key. */
  readonly bits: ReadonlyMap<string, number>
  /** The known keys by their folded form. */
  readonly folded: ReadonlyMap<string, string>
}

const levels: readonly (Level | undefined)[] = [
  undefined,
  level('', '', 'jsonrpc id method params result error'.split(' ')),
  level('params.', 'params', [
    ...'_meta name uri arguments cursor ref argument context notifications'.split(' '),
    ...'inputResponses requestState progressToken requestId'.split(' '),
  ]),
  level('params._meta.', '_meta', Object.values(metaKeys)),
]

function level(path: string, under: string, keys: readonly string[]): Level {
  const bits = new Map(keys.map((key, index) => [key, 1 << index]))
  return { path, under, bits, folded: new Map(keys.map((key) => [fold(key), key])) }
}

/** Reads a string that begins at `start`, and returns where its closing quote is. */
function readString(scan: Scan, start: number): number {
  const { text } = scan
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end === -1) return text.length
  if (scan.depth === scan.level && text.charCodeAt(skipSpace(text, end + 1)) === colon) readKey(scan, start + 1, end)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === backslash) before--
  return (at - before) % 2 === 0
}

function readKey(scan: Scan, start: number, end: number): void {
  const key = unescape(scan.text.slice(start, end))
  scan.key = key
  const here = levels[scan.level]
  if (here === undefined || scan.flaw !== undefined) return
  const bit = here.bits.get(key)
  if (bit === undefined) {
    scan.flaw = lookalike(here, key)
  } else if (((scan.seen[scan.level] ?? 0) & bit) !== 0) {
    scan.flaw = { key, message: `${here.path}${key} stands twice, which readers take differently; send it once` }
  } else {
    scan.seen[scan.level] = (scan.seen[scan.level] ?? 0) | bit
  }
}

/** Readers that ignore case, or normalise, would take the one key for the other (as in CVE-2026-27896). */
function lookalike(here: Level, key: string): KeyFlaw | undefined {
  const known = here.folded.get(fold(key))
  if (known === undefined) return undefined
  return { key: known, message: `${here.path}${key} is not a key, ${here.path}${known} is: keys are compared exactly` }
}

// NFKC turns the long s and the Kelvin sign into the ASCII letters that case folding takes them for.
function fold(key: string): string {
  return key.normalize('NFKC').toLowerCase()
}

function unescape(key: string): string {
  if (!key.includes('\\')) return key
  try {
    return String(JSON.parse(`"${key}"`))
  } catch {
    return key
  }
}

function open(scan: Scan, at: number): void {
  const { text, bounds } = scan
  if (scan.depth === scan.level && text.charCodeAt(at) === openBrace && leadsDown(scan)) {
    scan.level++
    scan.seen[scan.level] = 0
  }
  if (++scan.depth > bounds.depth) throw tooMuch(`${bounds.depth} levels of objects and arrays`)
  const next = text.charCodeAt(skipSpace(text, at + 1))
  if (next !== closeBrace && next !== closeBracket) countElement(scan)
}

function leadsDown(scan: Scan): boolean {
  const below = levels[scan.level + 1]
  return below !== undefined && (scan.level === 0 || scan.key === below.under)
}

function close(scan: Scan): void {
  if (scan.depth === 0) return
  if (scan.depth === scan.level) scan.level--
  scan.depth--
}

function countElement(scan: Scan): void {
  const { bounds } = scan
  if (++scan.elements > bounds.elements) throw tooMuch(`${bounds.elements} elements of arrays and members of objects`)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}
