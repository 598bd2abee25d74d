import type { PublishedSchema } from '@tooling/spec'
import fc from 'fast-check'
import { definitions, definitionNameOf } from './published.ts'

type Json = fc.JsonValue
type Context = { readonly depth: number }

const maximumDepth = 5
const jsonArbitrary = fc.jsonValue({ maxDepth: 1 }).filter((value) => !JSON.stringify(value).includes('__proto__'))
const keyArbitrary = fc.string({ maxLength: 12 }).filter((name) => name !== '__proto__')

/** Values that a definition allows, including objects with unknown keys. */
export function arbitraryOf(definition: string): fc.Arbitrary<Json> {
  return arbitraryOfReference(definition, { depth: 0 })
}

const arbitrariesByName = new Map<string, fc.Arbitrary<Json>>()

function arbitraryOfReference(definition: string, context: Context): fc.Arbitrary<Json> {
  if (definition === 'JSONValue') return jsonArbitrary
  const schema = definitions[definition]
  if (schema === undefined) throw new Error(`the schema has no definition ${definition}`)
  const place = `${definition} ${context.depth}`
  const arbitrary = arbitrariesByName.get(place) ?? arbitraryOfSchema(schema, { depth: context.depth + 1 })
  arbitrariesByName.set(place, arbitrary)
  return arbitrary
}

function arbitraryOfSchema(schema: PublishedSchema, context: Context): fc.Arbitrary<Json> {
  if (schema.$ref !== undefined) return arbitraryOfReference(definitionNameOf(schema.$ref), context)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((member) => arbitraryOfSchema(member, context)))
  if (schema.allOf !== undefined) return arbitraryOfAll(schema.allOf, context)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.type === undefined) return jsonArbitrary
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  return fc.oneof(...types.map((type) => arbitraryOfType(type, schema, context)))
}

type BuildArbitrary = (schema: PublishedSchema, context: Context) => fc.Arbitrary<Json>

const builders: ReadonlyMap<string, BuildArbitrary> = new Map<string, BuildArbitrary>([
  ['string', () => fc.string({ unit: 'binary', maxLength: 20 })],
  ['integer', ({ minimum }) => fc.integer({ min: minimum ?? Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })],
  [
    'number',
    ({ minimum, maximum }) => fc.double({ ...finiteNumberOptions, min: minimum ?? -1e9, max: maximum ?? 1e9 }),
  ],
  ['boolean', () => fc.boolean()],
  ['null', () => fc.constant(null)],
  [
    'array',
    ({ items }, context) => fc.array(arbitraryOfSchema(items ?? {}, context), { maxLength: isDeep(context) ? 0 : 2 }),
  ],
  ['object', arbitraryOfObject],
])

const finiteNumberOptions = { noNaN: true, noDefaultInfinity: true }

function arbitraryOfType(type: string, schema: PublishedSchema, context: Context): fc.Arbitrary<Json> {
  const build = builders.get(type)
  if (build === undefined) throw new Error(`the schema has a type ${type} that this generator does not know`)
  return build(schema, context)
}

function isDeep(context: Context): boolean {
  return context.depth > maximumDepth
}

function arbitraryOfObject(schema: PublishedSchema, context: Context): fc.Arbitrary<Json> {
  const required = schema.required ?? []
  const known = Object.entries(schema.properties ?? {}).filter(([name]) => required.includes(name) || !isDeep(context))
  const properties = Object.fromEntries(known.map(([name, property]) => [name, arbitraryOfSchema(property, context)]))
  const others = arbitraryOfSchema(schema.additionalProperties ?? {}, context)
  const names = new Set(Object.keys(schema.properties ?? {}))
  return fc
    .tuple(
      fc.dictionary(
        keyArbitrary.filter((name) => !names.has(name)),
        others,
        { maxKeys: 1, noNullPrototype: true },
      ),
      fc.record(properties, { requiredKeys: [...required], noNullPrototype: true }),
    )
    .map(([open, closed]) => ({ ...open, ...closed }))
}

function arbitraryOfAll(schemas: readonly PublishedSchema[], context: Context): fc.Arbitrary<Json> {
  return fc
    .tuple(...schemas.map((schema) => arbitraryOfSchema(schema, context)))
    .map((parts) => Object.assign({}, ...parts))
}
