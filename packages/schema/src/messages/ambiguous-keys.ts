import { isJsonObject, type JsonObject, type JsonValue } from '../basic/json.ts'
import { metaKeys } from '../basic/meta-keys.ts'
import type { KeyCounts } from './scan-text.ts'

/**
 * Detects a message that another reader, such as a gateway, could parse differently from `JSON.parse`. A key is
 * duplicated in the message or anywhere in its params, or a key of the message, its params or their `_meta` differs from
 * a known one only in case or Unicode form.
 */
export function ambiguousKeys(message: JsonObject, counts: KeyCounts): KeyProblem | undefined {
  const params = message['params']
  const problem = problemAt(messageLevel, message, counts.message)
  if (problem !== undefined || !isJsonObject(params)) return problem
  return flawInParams(params, counts) ?? duplicateIn('an object in params', hasDuplicates(message, counts))
}

function flawInParams(params: JsonObject, counts: KeyCounts): KeyProblem | undefined {
  const meta = params['_meta']
  const problem = problemAt(paramsLevel, params, counts.params)
  return problem !== undefined || !isJsonObject(meta) ? problem : problemAt(metaLevel, meta, counts.meta)
}

/** Tells if a text has more elements than the value that was parsed from it: of a duplicated key the last one remains. */
export function hasDuplicates(value: JsonValue, { elements }: KeyCounts): boolean {
  const open = [value]
  let found = 0
  // A list in place of a recursion: an operator may allow any depth.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const members: readonly (JsonValue | undefined)[] = Array.isArray(next) ? next : Object.values(next)
    found += members.length
    for (const member of members) if (typeof member === 'object' && member !== null) open.push(member)
  }
  return found !== elements
}

function duplicateIn(name: string, isDuplicated: boolean): KeyProblem | undefined {
  if (!isDuplicated) return undefined
  const message = `A key of ${name} stands twice, which readers take differently; send each key once`
  return { message, ofId: name === messageLevel.name }
}

/** The problem, and whether another reader could see another message id. */
export interface KeyProblem {
  readonly message: string
  readonly ofId: boolean
}

/** An object whose keys a gateway may act upon. */
interface Level {
  readonly name: string
  readonly path: string
  readonly known: ReadonlySet<string>
  /** The known keys by their folded form. */
  readonly folded: ReadonlyMap<string, string>
}

const messageLevel = level('the message', '', 'jsonrpc id method params result error')
const paramsLevel = level(
  'params',
  'params.',
  '_meta name uri arguments cursor ref argument context notifications inputResponses requestState progressToken requestId',
)
const metaLevel = level('params._meta', 'params._meta.', Object.values(metaKeys).join(' '))

function level(name: string, path: string, keys: string): Level {
  const known = keys.split(' ')
  return { name, path, known: new Set(known), folded: new Map(known.map((key) => [foldKey(key), key])) }
}

function problemAt(level: Level, object: JsonObject, written: number): KeyProblem | undefined {
  const keys = Object.keys(object)
  if (keys.length !== written) return duplicateIn(level.name, true)
  for (const key of keys) {
    const meant = level.known.has(key) ? undefined : level.folded.get(foldKey(key))
    if (meant !== undefined) return sameWhenFolded(level, key, meant)
  }
  return undefined
}

/** Readers that ignore case or normalize would read the one key as the other (as in CVE-2026-27896). */
function sameWhenFolded({ path }: Level, key: string, meant: string): KeyProblem {
  return { message: `${path}${key} is not a key, ${path}${meant} is: keys are compared exactly`, ofId: meant === 'id' }
}

// NFKC maps the long s and the Kelvin sign to the ASCII letters that case folding maps them to.
function foldKey(key: string): string {
  return key.normalize('NFKC').toLowerCase()
}
