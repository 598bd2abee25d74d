import type fc from 'fast-check'

type Json = fc.JsonValue
type Path = readonly (string | number)[]

// One of each type, and the near misses of numbers and strings.
const replacements: readonly Json[] = [null, true, 'no such value', '', 1, -1, 0.5, 2, [], {}, ['text'], [1]]

// What is deeper belongs to another definition, which is tried on its own.
const maximumDepth = 3

/** Values with one thing wrong, or merely different: a key dropped, a value replaced, a list too long. */
export function mutationsOf(value: Json): readonly Json[] {
  return placesOf(value, maximumDepth).flatMap((place) => [
    dropped(value, place),
    replaced(value, place, lengthened),
    ...replacements.map((replacement) => replaced(value, place, () => replacement)),
  ])
}

function placesOf(value: Json, depth: number): readonly Path[] {
  if (typeof value !== 'object' || value === null || depth === 0) return [[]]
  const entries: (readonly [string | number, Json | undefined])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return [[], ...entries.flatMap(([name, item = null]) => placesOf(item, depth - 1).map((path) => [name, ...path]))]
}

function lengthened(value: Json): Json {
  if (Array.isArray(value)) return Array.from({ length: 101 }, (_, index) => value[index % value.length] ?? 'text')
  return [value]
}

function replaced(value: Json, path: Path, change: (value: Json) => Json): Json {
  const [name, ...deeper] = path
  if (name === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? replaced(item, deeper, change) : item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item = null]) => [key, key === name ? replaced(item, deeper, change) : item]),
  )
}

function dropped(value: Json, path: Path): Json {
  const last = path.at(-1)
  return replaced(value, path.slice(0, -1), (holder) => {
    if (Array.isArray(holder)) return holder.filter((_, index) => index !== last)
    if (typeof holder !== 'object' || holder === null) return holder
    return Object.fromEntries(Object.entries(holder).filter(([key]) => key !== last))
  })
}
