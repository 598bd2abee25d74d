import { metaKeys } from './meta-keys.ts'

const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const prefixForm = new RegExp(`^${label}(?:\\.${label})*$`)
const nameForm = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** The second label of a reserved prefix, as in `io.modelcontextprotocol/` or `dev.mcp/`. */
const reservedLabels: ReadonlySet<string | undefined> = new Set(['modelcontextprotocol', 'mcp'])

const reservedNames: ReadonlySet<string> = new Set(Object.values(metaKeys))

/** The longest key that is examined; the specification states no limit. */
const longestKey = 512

/** Tells if a `_meta` key has the specified form: an optional prefix and a name (basic/index, `_meta`). */
export function isMetaKey(key: string): boolean {
  if (key.length > longestKey) return false
  const slash = key.indexOf('/')
  return (slash === -1 || prefixForm.test(key.slice(0, slash))) && nameForm.test(key.slice(slash + 1))
}

/** Tells if a `_meta` key is reserved for the protocol (basic/index, `_meta`). */
export function isReservedMetaKey(key: string): boolean {
  const slash = key.indexOf('/')
  if (slash === -1) return reservedNames.has(key)
  return reservedLabels.has(key.slice(0, slash).split('.', 2)[1])
}
