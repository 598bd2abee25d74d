import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/** The nesting depth of a recorded value. */
const maxDepth = 100

/**
 * A copy of a value that is JSON through and through, or what in it is not. Nothing is dropped or converted on the way:
 * a later run must see the very same as the run that made it.
 */
export function tryCopyJson(value: unknown): { readonly value: JsonValue } | { readonly reason: string } {
  try {
    return { value: copyValue(value, '', 0) }
  } catch (error) {
    if (error instanceof NotJsonError) return { reason: error.message }
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
  const clonedObject: Record<string, JsonValue | undefined> = { ...value }
  for (const key of Object.keys(clonedObject)) clonedObject[key] = cloneJson(clonedObject[key])
  return clonedObject
}

class NotJsonError extends Error {}

function copyValue(value: unknown, path: string, depth: number): JsonValue {
  if (depth > maxDepth) throw new NotJsonError(`${path.slice(0, 200)}… is deeper than ${maxDepth} levels`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return requireFinite(value, path)
  if (typeof value !== 'object')
    throw new NotJsonError(`${describePath(path)} is ${value === undefined ? value : `a ${typeof value}`}`)
  if (Array.isArray(value)) return Array.from(value, (item, index) => copyValue(item, `${path}/${index}`, depth + 1))
  rejectInstance(value, path)
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, copyValue(member, `${path}/${key}`, depth + 1)]),
  )
}

function requireFinite(value: number, path: string): number {
  if (!Number.isFinite(value)) throw new NotJsonError(`${describePath(path)} is ${value}`)
  // JSON has no negative zero.
  return value === 0 ? 0 : value
}

function rejectInstance(value: object, path: string): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects stands at the top; that of another realm is another object.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  const { constructor }: { constructor?: unknown } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  throw new NotJsonError(`${describePath(path)} is a ${name || 'class instance'}, not a plain object`)
}

function describePath(path: string): string {
  return path === '' ? 'it' : `its member ${path}`
}
