import fc from 'fast-check'

type Json = fc.JsonValue
type Path = readonly (string | number)[]

// One value of each type, and numbers and strings that are almost valid.
const replacements: readonly Json[] = [null, true, 'no such value', '', 1, -1, 0.5, 2, [], {}, ['text'], [1]]

// Deeper values belong to other definitions, which are tested separately.
const maximumDepth = 3

/** One change each: a key removed, a value replaced, or an array made longer. A variant may still be valid. */
export function mutationsOf(value: Json): readonly Json[] {
  return pathsOf(value, maximumDepth).flatMap((place) => [
    removeAt(value, place),
    replaceAt(value, place, lengthenValue),
    ...replacements.map((replacement) => replaceAt(value, place, () => replacement)),
  ])
}

type Mutation = (value: Json, choice: number) => Json

// A wrong text is most likely the literal of another type.
const words =
  'text image audio resource resource_link tool_use tool_result string number integer boolean array object form url private public user ' +
  'elicitation/create sampling/createMessage roots/list email none'

const keys =
  words +
  ' enum oneOf anyOf minLength default mode blob uri _meta annotations icons size total name title items x-unknown'

const changes: readonly Mutation[] = [
  (_value, choice) => pickElement(replacements, choice),
  (_value, choice) => pickElement(words.split(' '), choice),
  (value) => lengthenValue(value),
  (value, choice) =>
    isObject(value) ? { ...value, [pickElement(keys.split(' '), choice)]: pickElement(replacements, choice) } : value,
  (value, choice) => (isObject(value) ? { ...value, [pickElement(keys.split(' '), choice)]: ['a'] } : value),
]

/** Change a value at up to three random places of any depth. */
export const mutationArbitrary: fc.Arbitrary<(value: Json) => Json> = fc
  .array(fc.record({ place: fc.nat(), kind: fc.nat({ max: changes.length + 1 }), choice: fc.nat() }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((steps) => (value) => {
    return steps.reduce<Json>((changed, { place: at, kind, choice }) => {
      const places = pathsOf(changed, Number.POSITIVE_INFINITY)
      const place = pickElement(places, at)
      const change = changes[kind]
      if (change !== undefined) return replaceAt(changed, place, (part) => change(part, choice))
      // The last two kinds remove a part of the value, or replace it by another part.
      if (kind === changes.length) return removeAt(changed, place)
      return replaceAt(changed, place, () => valueAt(changed, pickElement(places, choice)))
    }, value)
  })

function pickElement<T>(from: readonly T[], choice: number): T {
  const item = from[choice % from.length]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

function isObject(value: Json): value is { [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(value: Json, [name, ...deeper]: Path): Json {
  if (name === undefined || typeof value !== 'object' || value === null) return value
  return valueAt(Object.entries(value).find(([key]) => key === String(name))?.[1] ?? null, deeper)
}

function pathsOf(value: Json, depth: number): readonly Path[] {
  if (typeof value !== 'object' || value === null || depth === 0) return [[]]
  const entries: (readonly [string | number, Json | undefined])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return [[], ...entries.flatMap(([name, item = null]) => pathsOf(item, depth - 1).map((path) => [name, ...path]))]
}

function lengthenValue(value: Json): Json {
  if (Array.isArray(value)) return Array.from({ length: 101 }, (_, index) => value[index % value.length] ?? 'text')
  return [value]
}

function replaceAt(value: Json, path: Path, change: (value: Json) => Json): Json {
  const [name, ...deeper] = path
  if (name === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? replaceAt(item, deeper, change) : item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item = null]) => [key, key === name ? replaceAt(item, deeper, change) : item]),
  )
}

function removeAt(value: Json, path: Path): Json {
  const last = path.at(-1)
  return replaceAt(value, path.slice(0, -1), (holder) => {
    if (Array.isArray(holder)) return holder.filter((_, index) => index !== last)
    if (typeof holder !== 'object' || holder === null) return holder
    return Object.fromEntries(Object.entries(holder).filter(([key]) => key !== last))
  })
}
