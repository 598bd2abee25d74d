import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/** The nesting depth of a recorded value. */
const deepest = 100

/**
 * A copy of a value that is JSON through and through, or what in it is not. Nothing is dropped or converted on the way:
 * a later run must see the very same as the run that made it.
 */
export function jsonCopy(value: unknown): { readonly value: JsonValue } | { readonly reason: string } {
  try {
    return { value: copy(value, '', 0) }
  } catch (error) {
    if (error instanceof NotJson) return { reason: error.message }
    throw error
  }
}

/**
 * A copy of what is known to be JSON, such as a member of a journal: for small values, several times as fast as
 * `structuredClone`.
 */
export function cloneJson(value: JsonObject): JsonObject
export function cloneJson(value: JsonValue | undefined): JsonValue | undefined
export function cloneJson(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return value
  if (!isJsonObject(value)) return value.map((item) => cloneJson(item) ?? null)
  // A spread makes `__proto__` an own member as well, which is then written like any other.
  const copied: Record<string, JsonValue | undefined> = { ...value }
  for (const key of Object.keys(copied)) copied[key] = cloneJson(copied[key])
  return copied
}

class NotJson extends Error {}

function copy(value: unknown, path: string, depth: number): JsonValue {
  if (depth > deepest) throw new NotJson(`${path.slice(0, 200)}… is deeper than ${deepest} levels`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return finite(value, path)
  if (typeof value !== 'object')
    throw new NotJson(`${at(path)} is ${value === undefined ? value : `a ${typeof value}`}`)
  if (Array.isArray(value)) return Array.from(value, (item, index) => copy(item, `${path}/${index}`, depth + 1))
  rejectInstance(value, path)
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, copy(member, `${path}/${key}`, depth + 1)]),
  )
}

function finite(value: number, path: string): number {
  if (!Number.isFinite(value)) throw new NotJson(`${at(path)} is ${value}`)
  // JSON has no negative zero.
  return value === 0 ? 0 : value
}

function rejectInstance(value: object, path: string): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects stands at the top; that of another realm is another object.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  const { constructor }: { constructor?: unknown } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  throw new NotJson(`${at(path)} is a ${name || 'class instance'}, not a plain object`)
}

function at(path: string): string {
  return path === '' ? 'it' : `its member ${path}`
}
