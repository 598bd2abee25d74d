import { Ajv2020 } from 'ajv/dist/2020.js'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { compileTrustedJsonSchema } from '@x/schema/json-schema'
import { createServer } from '@x/server'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOpenApiError, openApiTools } from './index.ts'
import { apiUrl, callTool, documentOf } from './testing/api-kit.ts'
import { readExample } from './testing/documents.ts'
import { asRead, readParameter } from './testing/read-request.ts'
import { sampleValue } from './testing/sample-value.ts'

/** The number of cases. The night has more. */
const runs = process.env['NIGHT'] === '1' ? 5000 : 100

const names = ['3.1/json/petstore', '3.1/json/train-travel', '3.0/json/circular', '3.0/json/discriminators']
const examples = names.map(readExample)
const leaf = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant('#/paths'),
)
const anything: fc.Arbitrary<JsonValue> = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }),
  fc.constantFrom({}, { $ref: '#' }),
)

/** Replaces one value somewhere in a document. `steps` choose the way to it. */
function mutate(value: JsonValue, steps: readonly number[], replacement: JsonValue): JsonValue {
  const [step, ...rest] = steps
  if (step === undefined || typeof value !== 'object' || value === null) return replacement
  const entries = Object.entries(value)
  const index = step % Math.max(1, entries.length)
  const changed = entries.map(([key, member = null], at): [string, JsonValue] => [
    key,
    at === index ? mutate(member, rest, replacement) : member,
  ])
  return Array.isArray(value) ? changed.map(([, member]) => member) : Object.fromEntries(changed)
}

test('(a) every mutation of a document makes tools that a server accepts, or throws an OpenApiError', () => {
  const mutation = fc.tuple(
    fc.constantFrom(...examples),
    fc.array(fc.nat(40), { minLength: 1, maxLength: 12 }),
    anything,
  )
  fc.assert(
    fc.property(mutation, ([document, steps, replacement]) => {
      const mutant = mutate(document, steps, replacement)
      try {
        const tools = openApiTools(isJsonObject(mutant) ? mutant : {}, { url: apiUrl, log: () => {} })
        createServer({ name: 'api', version: '1.0.0', tools, log: () => {} })
      } catch (error) {
        if (!isOpenApiError(error)) throw error
      }
    }),
    { numRuns: runs },
  )
})

const schemas = fc.letrec<{ schema: JsonObject }>((tie) => {
  const some = fc.array(tie('schema'), { minLength: 1, maxLength: 3 })
  const object = fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', '$ref', 'not'), tie('schema'), { maxKeys: 3 }),
      required: fc.subarray(['a', 'b']),
      additionalProperties: fc.boolean(),
    },
    { requiredKeys: ['type', 'properties'] },
  )
  return {
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.record({ type: fc.constant('integer'), minimum: fc.nat(3), description: fc.string() }),
      fc.record({
        type: fc.constant('string'),
        minLength: fc.nat(3),
        pattern: fc.constantFrom('^a', '(a+)+', '(?=a)'),
      }),
      fc.record({ enum: fc.uniqueArray(leaf, { minLength: 1, maxLength: 3 }) }),
      fc.record({ type: fc.constant('array'), items: tie('schema'), maxItems: fc.nat(5) }),
      fc.record({ oneOf: some }),
      fc.record({ allOf: some }),
      fc.record({ not: tie('schema'), unevaluatedProperties: fc.constant(false) }),
      fc.constant({ $ref: '#/components/schemas/Node' }),
      object,
    ),
  }
}).schema

// Other options make an instance compile the schema of schemas, and keep each schema.
const ajv = new Ajv2020({ strict: false, validateSchema: false, addUsedSchema: false })

test('(b) a value that a schema of the document accepts is accepted by the tool, also when the schema is loosened', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' }, n: { type: 'integer' } } }
  const components = { schemas: { Node: node } }
  let accepted = 0
  fc.assert(
    fc.property(schemas, fc.boolean(), fc.constantFrom(16_000, 150, 250), (schema, all, maxSchemaCharacters) => {
      const operation = { requestBody: { content: { 'application/json': { schema } } } }
      const document = documentOf(operation, { method: 'post', components })
      const [tool] = openApiTools(document, { url: apiUrl, maxSchemaCharacters, log: () => {} })
      if (tool === undefined) return
      const original = ajv.compile({ ...schema, components })
      const converted = compileTrustedJsonSchema(Object(tool.definition.input))
      for (const value of [sampleValue(schema, components, all), { a: 1 }, [], 'a', 3]) {
        if (!original(value)) continue
        accepted += 1
        expect(converted({ body: value }), JSON.stringify({ schema, value })).toEqual([])
      }
    }),
    { numRuns: runs },
  )
  expect(accepted).toBeGreaterThan(runs / 2)
})

const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((text) => !/^\.{1,2}$/.test(text))
const values = fc.oneof(
  texts,
  fc.integer(),
  fc.array(texts, { minLength: 1, maxLength: 3 }),
  fc.dictionary(fc.stringMatching(/^[a-p]{1,3}$/), texts, { minKeys: 1, maxKeys: 3 }),
)
const styles = fc.oneof(
  fc.record({ in: fc.constant('path'), explode: fc.boolean() }),
  fc.record({ in: fc.constant('query'), style: fc.constantFrom('form', 'pipeDelimited'), explode: fc.boolean() }),
)

test('(c) a server that reads the style of a parameter gets the arguments', async () => {
  let arrived = 0
  await fc.assert(
    fc.asyncProperty(styles, values, async (style, value) => {
      const parameter = { ...style, name: 'zz' }
      const path = style.in === 'path' ? '/t/{zz}.x' : '/t'
      const { requests } = await callTool(documentOf({ parameters: [parameter] }, { path }), { zz: value })
      for (const { url } of requests) expect(readParameter(parameter, value, url, path)).toEqual(asRead(value))
      arrived += requests.length
    }),
    { numRuns: runs },
  )
  expect(arrived).toBeGreaterThan(runs / 2)
})

test('(d) no argument leads a request away from the address', async () => {
  const parts = fc.array(
    fc.constantFrom('..', '.', '/', '\\', '%2e', '%2F', '@', ':', '#', '?', 'a', '//evil.example'),
    { maxLength: 6 },
  )
  const operation = {
    parameters: [
      { name: 'a', in: 'path' },
      { name: 'b', in: 'path' },
      { name: 'c', in: 'query' },
    ],
  }
  const document = documentOf(operation, { path: '/x/{a}{b}/y' })
  await fc.assert(
    fc.asyncProperty(parts, parts, async (a, b) => {
      const { requests } = await callTool(document, { a: a.join(''), b: b.join(''), c: a.join('') })
      for (const { url } of requests)
        expect(url).toMatch(/^https:\/\/api\.example\.com\/v2\/x\/[^/?#]+\/y(?:\?c=[^#]*)?$/)
    }),
    { numRuns: runs },
  )
})
