import type { Failure } from '@x/schema'

/** Returns the path and reason of a failed check, for an error; `whole` names the value itself, if it needs a name. */
export function describeCheckFailure({ path, expected, got }: Failure, whole = ''): string {
  const where = shownName(path.replace(/^\./, '')) || whole
  const why = `expected ${expected}, got ${got}`
  return where === '' ? why : `${where}: ${why}`
}

/** Returns a key that the server chose, as errors show it. */
export function printableKey(key: string): string {
  return JSON.stringify(shownName(key))
}

function shownName(name: string): string {
  return name.slice(0, 128).replaceAll(/\p{C}/gu, ' ')
}
