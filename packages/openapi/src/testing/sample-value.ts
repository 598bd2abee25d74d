import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'

/** Returns a value that a schema probably accepts. `root` has the `$defs`, and `all` adds optional members. */
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

function merge(parts: readonly JsonValue[], sample: (schema: JsonValue) => JsonValue): JsonValue {
  const samples = parts.filter((part) => Object.keys(Object(part)).length > 0).map(sample)
  return samples.every(isJsonObject) ? Object.assign({}, ...samples) : (samples.find((each) => each !== 'x') ?? 'x')
}

type Sampler = (schema: JsonObject, sample: (schema: JsonValue | undefined) => JsonValue, all: boolean) => JsonValue

const sampleNumber: Sampler = ({ minimum }) => Math.max(1, Number(minimum ?? 1))
const samplers: Readonly<Record<string, Sampler>> = {
  null: () => null,
  boolean: () => true,
  integer: sampleNumber,
  number: sampleNumber,
  string: ({ minLength, maxLength }) => word.repeat(Number(minLength ?? 1)).slice(0, Number(maxLength ?? 400)),
  array: ({ items, minItems }, sample, all) =>
    Array.from({ length: Math.max(all ? 2 : 0, Number(minItems ?? 0)) }, () => sample(items)),
  object: ({ properties, required }, sample, all) => {
    const chosen = Object.entries(Object(properties)).filter(([name]) => all || listOf(required).includes(name))
    return Object.fromEntries(chosen.map(([name, member]) => [name, sample(isJsonObject(member) ? member : {})]))
  },
}

function typeOf({ type, properties }: JsonObject): string {
  return String(listOf(type)[0] ?? type ?? (properties === undefined ? 'string' : 'object'))
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}
