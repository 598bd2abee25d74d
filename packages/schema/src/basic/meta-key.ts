import { metaKeys } from './meta-keys.ts'

const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const prefixForm = new RegExp(`^${label}(?:\\.${label})*$`)
const nameForm = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** The second label of a prefix that belongs to the protocol, as in `io.modelcontextprotocol/` or `dev.mcp/`. */
const reservedLabels: ReadonlySet<string | undefined> = new Set(['modelcontextprotocol', 'mcp'])

const reservedNames: ReadonlySet<string> = new Set(Object.values(metaKeys))

/** The longest key that is looked at; the specification names no bound. */
const longestKey = 512

/** Whether a `_meta` key has the form that the specification gives: an optional prefix and a name (basic/index, `_meta`). */
export function isMetaKey(key: string): boolean {
  if (key.length > longestKey) return false
  const slash = key.indexOf('/')
  return (slash === -1 || prefixForm.test(key.slice(0, slash))) && nameForm.test(key.slice(slash + 1))
}

/** Whether a `_meta` key is the protocol's own, so that nobody else may give it a meaning (basic/index, `_meta`). */
export function isReservedMetaKey(key: string): boolean {
  const slash = key.indexOf('/')
  if (slash === -1) return reservedNames.has(key)
  return reservedLabels.has(key.slice(0, slash).split('.', 2)[1])
}
