/**
 * Returns the first place at which two plain values differ, with both; undefined when they are equal as JSON. Members
 * that are undefined count as absent.
 */
export function firstDifference(one: unknown, other: unknown, path = 'outcome'): string | undefined {
  if (isContainer(one) && isContainer(other) && Array.isArray(one) === Array.isArray(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)])
    for (const key of keys) {
      const place = Array.isArray(one) ? `${path}[${key}]` : `${path}.${key}`
      const found = firstDifference(Reflect.get(one, key), Reflect.get(other, key), place)
      if (found !== undefined) return found
    }
    return undefined
  }
  return Object.is(one, other) ? undefined : `${path} is ${formatValue(other)} instead of ${formatValue(one)}`
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A value for a message, never long. */
export function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
