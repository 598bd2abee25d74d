import type { JsonValue } from '@x/core'

interface SizedEntry {
  readonly path: string
  readonly byteCount: number
}

/** Names the parts of a value with the most bytes, such as `steps.plan (30211 bytes), answers.note (902 bytes)`. */
export function describeLargestEntries(value: JsonValue): string {
  const entries = collectLargestEntries({ path: '', byteCount: countJsonBytes(value) }, value, 0)
  return entries
    .sort((a, b) => b.byteCount - a.byteCount)
    .slice(0, 5)
    .map(({ path, byteCount }) => `${path === '' ? 'the value itself' : path} (${byteCount} bytes)`)
    .join(', ')
}

/** Parts of an entry that make up at least a tenth of it, or the entry itself if no member is that large. */
function collectLargestEntries(entry: SizedEntry, value: JsonValue, depth: number): SizedEntry[] {
  if (depth >= 6 || typeof value !== 'object' || value === null) return [entry]
  const sizedMembers = Object.entries(value).flatMap(([key, member]): (readonly [SizedEntry, JsonValue])[] => {
    if (member === undefined) return []
    const path = entry.path === '' ? key.slice(0, 64) : `${entry.path}.${key.slice(0, 64)}`
    return [[{ path, byteCount: countJsonBytes(member) }, member]]
  })
  const largeEntries = sizedMembers.filter(([memberEntry]) => memberEntry.byteCount * 10 >= entry.byteCount)
  if (largeEntries.length === 0) return [entry]
  return largeEntries.flatMap(([memberEntry, member]) => collectLargestEntries(memberEntry, member, depth + 1))
}

function countJsonBytes(value: JsonValue): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
