import type { Failure } from '@x/schema'

/** Where and why a value was refused, for an error; `whole` is what the value itself is called there, if it needs a name. */
export function wordFailure({ path, expected, got }: Failure, whole = ''): string {
  const where = shownName(path.replace(/^\./, '')) || whole
  const why = `expected ${expected}, got ${got}`
  return where === '' ? why : `${where}: ${why}`
}

/** A key of the server's choice, as errors show it. */
export function shownKey(key: string): string {
  return JSON.stringify(shownName(key))
}

function shownName(name: string): string {
  return name.slice(0, 128).replaceAll(/\p{C}/gu, ' ')
}
