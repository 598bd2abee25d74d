import type { JsonValue } from '../json.ts'

/** One place in a value, and how many bytes of JSON it takes. */
interface Entry {
  readonly path: string
  readonly bytes: number
}

/** Names the places of a value that take most of its bytes: `steps.plan (30211 bytes), answers.note (902 bytes)`. */
export function largestEntries(value: JsonValue): string {
  const entries = heaviest({ path: '', bytes: bytesOf(value) }, value, 0)
  return entries
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 5)
    .map(({ path, bytes }) => `${path === '' ? 'the value itself' : path} (${bytes} bytes)`)
    .join(', ')
}

/** An entry is divided further while its parts say more than it does. */
function heaviest(entry: Entry, value: JsonValue, depth: number): Entry[] {
  if (depth >= 6 || typeof value !== 'object' || value === null) return [entry]
  const parts = Object.entries(value).flatMap(([key, member]): (readonly [Entry, JsonValue])[] => {
    if (member === undefined) return []
    const path = entry.path === '' ? key.slice(0, 64) : `${entry.path}.${key.slice(0, 64)}`
    return [[{ path, bytes: bytesOf(member) }, member]]
  })
  const heavy = parts.filter(([part]) => part.bytes * 10 >= entry.bytes)
  if (heavy.length === 0) return [entry]
  return heavy.flatMap(([part, member]) => heaviest(part, member, depth + 1))
}

function bytesOf(value: JsonValue): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
