import { isJsonObject, type JsonObject } from '../basic/json.ts'
import { metaKeys } from '../basic/meta-keys.ts'
import type { KeyCounts } from './scan-text.ts'

/**
 * Detects a message that another reader, such as a gateway, could parse differently from `JSON.parse`. A key is
 * duplicated in the message, its params or their `_meta`, or differs from a known key only in case or Unicode form.
 */
export function ambiguousKeys(message: JsonObject, counts: KeyCounts): KeyFlaw | undefined {
  const flaw = flawAt(messageLevel, message, counts.message)
  const params = message['params']
  if (flaw !== undefined || !isJsonObject(params)) return flaw
  const flawOfParams = flawAt(paramsLevel, params, counts.params)
  const meta = params['_meta']
  if (flawOfParams !== undefined || !isJsonObject(meta)) return flawOfParams
  return flawAt(metaLevel, meta, counts.meta)
}

/** The problem, and whether another reader could see another message id. */
export interface KeyFlaw {
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
  return { name, path, known: new Set(known), folded: new Map(known.map((key) => [fold(key), key])) }
}

function flawAt(level: Level, object: JsonObject, written: number): KeyFlaw | undefined {
  const keys = Object.keys(object)
  if (keys.length !== written) {
    const message = `A key of ${level.name} stands twice, which readers take differently; send each key once`
    return { message, ofId: level === messageLevel }
  }
  for (const key of keys) {
    const meant = level.known.has(key) ? undefined : level.folded.get(fold(key))
    if (meant !== undefined) return lookalike(level, key, meant)
  }
  return undefined
}

/** Readers that ignore case or normalize would read the one key as the other (as in CVE-2026-27896). */
function lookalike({ path }: Level, key: string, meant: string): KeyFlaw {
  return { message: `${path}${key} is not a key, ${path}${meant} is: keys are compared exactly`, ofId: meant === 'id' }
}

// NFKC maps the long s and the Kelvin sign to the ASCII letters that case folding maps them to.
function fold(key: string): string {
  return key.normalize('NFKC').toLowerCase()
}
