import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import fc from 'fast-check'

/** A schema probably accepts it. `root` has the `$defs`, and `all` adds optional members. */
export function sampleValue(schema: JsonValue | undefined, root: JsonObject, all = true, depth = 0): JsonValue {
  if (!isJsonObject(schema)) return 'x'
  const { $ref, const: constant, enum: values, anyOf, allOf, ...own } = schema
  const sample = (each: JsonValue | undefined): JsonValue => sampleValue(each, root, all && depth < 4, depth + 1)
  const fixed = [constant, ...listOf(values)].find((value) => value !== undefined && value !== null)
  if (fixed !== undefined) return fixed
  if (typeof $ref === 'string') return sample(Object(root['$defs'])[$ref.slice('#/$defs/'.length)])
  const parts = [...listOf(allOf), ...listOf(anyOf).slice(0, 1)]
  if (parts.length > 0) return merge([own, ...parts], sample)
  const { [typeOf(own)]: sampler = () => word } = samplers
  return sampler(own, sample, all)
}

const word = 'a, b/c&d=e%'
const texts: ReadonlySet<string> = new Set(['title', 'description', 'default'])

function merge(parts: readonly JsonValue[], sample: (schema: JsonValue) => JsonValue): JsonValue {
  const telling = parts.filter((part) => Object.keys(Object(part)).some((keyword) => !texts.has(keyword)))
  // A part that requires a member may leave its schema to another.
  const samples = telling.toSorted((a, b) => Number(isBare(b)) - Number(isBare(a))).map(sample)
  const objects = samples.filter(isJsonObject)
  return objects.length > 0 ? Object.assign({}, ...objects) : (samples.findLast((each) => each !== 'x') ?? 'x')
}

function isBare(part: JsonValue): boolean {
  return isJsonObject(part) && part['required'] !== undefined && part['properties'] === undefined
}

type Sampler = (schema: JsonObject, sample: (schema: JsonValue | undefined) => JsonValue, all: boolean) => JsonValue

const sampleNumber: Sampler = ({ minimum }) => Math.max(1, Number(minimum ?? 1))

/** fast-check writes no text for a few patterns, such as those with a word boundary. */
function sampleText({ pattern, minLength = 1, maxLength = 400 }: JsonObject): string {
  const plain = word.repeat(Number(minLength)).slice(0, Number(maxLength))
  if (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(plain)) return plain
  try {
    const samples = fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { seed: 1, numRuns: 20 })
    return samples.find(({ length }) => length >= Number(minLength) && length <= Number(maxLength)) ?? plain
  } catch {
    return plain
  }
}

const samplers: Readonly<Record<string, Sampler>> = {
  null: () => null,
  boolean: () => true,
  integer: sampleNumber,
  number: sampleNumber,
  string: sampleText,
  array: ({ items, minItems, maxItems = 2, uniqueItems }, sample, all) => {
    const wanted = all && uniqueItems !== true ? 2 : 1
    return Array.from({ length: Math.max(Math.min(wanted, Number(maxItems)), Number(minItems ?? 0)) }, () =>
      sample(items),
    )
  },
  object: ({ properties, required }, sample, all) => {
    const members = new Map(listOf(required).map((name): [string, unknown] => [String(name), {}]))
    for (const [name, member] of Object.entries(Object(properties)))
      if (all || members.has(name)) members.set(name, member)
    return Object.fromEntries(
      Array.from(members, ([name, member]) => [name, sample(isJsonObject(member) ? member : {})]),
    )
  },
}

function typeOf({ type, properties, required }: JsonObject): string {
  return String(listOf(type)[0] ?? type ?? (properties === undefined && required === undefined ? 'string' : 'object'))
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}
