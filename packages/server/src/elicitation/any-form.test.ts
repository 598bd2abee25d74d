import type { MultiSelectEnumSchema, PrimitiveSchemaDefinition, RequestedSchema, StringSchema } from '@x/schema'
import { compileTrustedJsonSchema } from '@x/schema/json-schema'
import { shapes, zodOf } from '@x/schema/zod'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freezeJsonObject } from '../request/json-copy.ts'
import { form } from './form.ts'

test('every form of zod is sent in the restricted subset, and its schema accepts valid content', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyForm.chain((schema) => fc.record({ made: fc.constant(form(schema)), seed: fc.nat() })),
      async ({ made: { requestedSchema, check }, seed }) => {
        zodOf(shapes.elicitRequestFormParams).parse({ message: 'm', requestedSchema })
        closedForm.parse(requestedSchema)
        for (const content of fc.sample(contentFor(requestedSchema), { numRuns: 5, seed })) {
          expect(await check(content)).not.toHaveProperty('issues')
        }
      },
    ),
  )
})

test('a value that the sent form rejects is rejected by the schema, too', async () => {
  await fc.assert(
    fc.asyncProperty(anyForm, fc.nat(), async (schema, seed) => {
      const { requestedSchema, check } = form(schema)
      const issuesOf = compileTrustedJsonSchema(freezeJsonObject(requestedSchema, 'form'))
      const wrong = fc.dictionary(fc.constantFrom(...Object.keys(requestedSchema.properties), 'other'), anyValue, {
        maxKeys: 1,
      })
      const contents = fc.tuple(contentFor(requestedSchema), wrong).map(([right, one]) => ({ ...right, ...one }))
      for (const content of fc.sample(contents, { numRuns: 10, seed })) {
        if (issuesOf(content).length > 0) expect(await check(content)).toHaveProperty('issues')
      }
    }),
  )
})

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'ß', ' ', '#'), maxLength: 6 })
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 5 })
const ordered = (numbers: fc.Arbitrary<number>) =>
  fc.tuple(numbers, numbers).map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const)
const double = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })

const text = ordered(fc.nat(8)).map(([least, most]) => z.string().min(least).max(most))
const format = fc.constantFrom<z.ZodType>(
  z.email(),
  z.url(),
  z.iso.date(),
  z.iso.datetime(),
  z.iso.datetime({ offset: true }),
)
const number = ordered(double).map(([least, most]) => z.number().min(least).max(most))
const integer = fc.oneof(
  fc.constant(z.int()),
  ordered(fc.integer()).map(([least, most]) => z.int().min(least).max(most)),
  ordered(fc.integer({ min: -99, max: 99 })).map(([least, most]) =>
    z
      .int()
      .gt(least)
      .lt(most + 2),
  ),
)
const choice = fc.oneof(
  words.map((values) => z.enum(values)),
  words.map((values) => z.literal(values)),
  fc
    .tuple(words, fc.array(word, { minLength: 5, maxLength: 5 }))
    .map(([values, titles]) =>
      z.union(values.map((value, index) => z.literal(value).meta({ title: titles[index] ?? value }))),
    ),
)
const several = fc.tuple(choice, fc.nat(1), fc.nat(5)).map(([one, least, more]) =>
  z
    .array(one)
    .min(least)
    .max(least + more),
)

const property = fc
  .tuple(
    fc.oneof<fc.Arbitrary<z.ZodType>[]>(text, format, number, integer, fc.constant(z.boolean()), choice, several),
    fc.boolean(),
    fc.option(word),
  )
  .map(([schema, isOptional, title]) => {
    const named = title === null ? schema : schema.meta({ title, description: `${title}?` })
    return isOptional ? named.optional() : named
  })

const anyForm = fc
  .dictionary(
    word.filter((name) => name !== ''),
    property,
    { maxKeys: 6 },
  )
  .map((shape) => z.object(shape))

const anyValue = fc.oneof(word, double, fc.integer(), fc.boolean(), fc.array(word, { maxLength: 6 }), fc.constant(null))

type StringField = Extract<PrimitiveSchemaDefinition, { type: 'string' }>

/** Contents that a client could send which knows the form and nothing else. */
function contentFor({ properties, required = [] }: RequestedSchema): fc.Arbitrary<object> {
  const values = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, valueFor(field)]))
  return fc.record(values, { requiredKeys: [...required] })
}

function valueFor(field: PrimitiveSchemaDefinition): fc.Arbitrary<unknown> {
  switch (field.type) {
    case 'boolean':
      return fc.boolean()
    case 'number':
      return fc.double({ ...numeric(field.minimum, field.maximum), noNaN: true })
    case 'integer':
      return fc.maxSafeInteger().map((value) => clamp(value, field))
    case 'array':
      return chosenFrom(field)
    case 'string':
      return isText(field) ? textFor(field) : fc.constantFrom(...valuesOf(field))
  }
}

function isText(field: StringField): field is StringSchema {
  return !('enum' in field || 'oneOf' in field)
}

function valuesOf(choice: object): string[] {
  const listed = z.object({ enum: bare.optional(), oneOf: titled.optional(), anyOf: titled.optional() }).parse(choice)
  return listed.enum ?? (listed.oneOf ?? listed.anyOf ?? []).map((option) => option.const)
}

function chosenFrom({ items, minItems = 0, maxItems = Infinity }: MultiSelectEnumSchema): fc.Arbitrary<string[]> {
  const values = valuesOf(items)
  return fc.shuffledSubarray(values, { minLength: minItems, maxLength: Math.min(maxItems, values.length) })
}

function numeric(min = -1e6, max = 1e6): { min: number; max: number } {
  return { min, max }
}

function clamp(
  value: number,
  { minimum = -Infinity, maximum = Infinity }: { minimum?: number | undefined; maximum?: number | undefined },
): number {
  return Math.min(Math.max(value, minimum), maximum)
}

function textFor({ format: kind, minLength = 0, maxLength = 9 }: StringSchema): fc.Arbitrary<string> {
  return kind === undefined
    ? fc.string({ unit: fc.constantFrom('a', 'é', ' '), minLength, maxLength })
    : formatted[kind]
}

const instant = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'z', '0'), minLength: 1, maxLength: 8 })
const formatted = {
  email: fc.tuple(letters, letters).map(([name, host]) => `${name}@${host}.example`),
  uri: fc.webUrl(),
  date: instant.map((date) => date.slice(0, 10)),
  'date-time': instant,
}

// The published schema leaves objects open; here nothing may stand but what the page lists (client/elicitation).
const labels = { title: z.string().optional(), description: z.string().optional() }
const count = z.int().min(0).optional()
const titled = z.array(z.strictObject({ const: z.string(), title: z.string() })).min(1)
const bare = z.array(z.string()).min(1)
const one = { ...labels, type: z.literal('string') }
const many = { ...labels, type: z.literal('array'), minItems: count, maxItems: count }
const closedForm = z.strictObject({
  type: z.literal('object'),
  properties: z.record(
    z.string(),
    z.union([
      z.strictObject({
        ...one,
        minLength: count,
        maxLength: count,
        format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
      }),
      z.strictObject({
        ...labels,
        type: z.enum(['number', 'integer']),
        minimum: z.number().optional(),
        maximum: z.number().optional(),
      }),
      z.strictObject({ ...labels, type: z.literal('boolean') }),
      z.strictObject({ ...one, enum: bare }),
      z.strictObject({ ...one, oneOf: titled }),
      z.strictObject({ ...many, items: z.strictObject({ type: z.literal('string'), enum: bare }) }),
      z.strictObject({ ...many, items: z.strictObject({ anyOf: titled }) }),
    ]),
  ),
  required: z.array(z.string()).min(1).optional(),
})
