import * as v from 'valibot'
import fc from 'fast-check'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type AnySchema, createServer, tool, type ServerDefinition } from '../index.ts'
import { callTool, resultOf, textOf } from '../testing/ask.ts'
import { createZodIssueFinder } from './zod-issues.ts'

const about = { name: 'demo', version: '1.0.0' }
const run = () => ''
const withInput = (input: AnySchema) => ({ tools: [tool('t', { description: 't', input, run })] })
const text = (of: Partial<JsonObject>) => ({ type: 'object', properties: { a: of } }) as JsonObject

describe('schemas', () => {
  const kinds: [string, AnySchema][] = [
    ['zod', z.object({ name: z.string(), age: z.number().optional() })],
    ['valibot', toStandardJsonSchema(v.object({ name: v.string(), age: v.optional(v.number()) }))],
    [
      'JSON Schema',
      { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number' } }, required: ['name'] },
    ],
    [
      'JSON Schema of draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { name: { type: 'string' }, age: { type: 'number' } },
        required: ['name'],
      },
    ],
  ]

  test.each(kinds)(
    'of %s are shown to clients and hold for input and output [BAS-034 BAS-037 BAS-038 TOL-010 TOL-035]',
    async (_, schema) => {
      const same = tool('same', { description: 's', input: schema, output: schema, run: (args) => args })
      const server = createServer({ ...about, tools: [same] })
      const shown = {
        type: 'object',
        properties: { name: { type: 'string' }, age: { type: 'number' } },
        required: ['name'],
      }
      expect(await resultOf(server, 'tools/list')).toMatchObject({
        tools: [{ inputSchema: shown, outputSchema: shown }],
      })
      expect(await callTool(server, 'same', { name: 'a' })).toMatchObject({ structuredContent: { name: 'a' } })
      const refused = await callTool(server, 'same', { name: 'a', age: 'old' })
      expect(refused).toMatchObject({ isError: true })
      expect(textOf(refused)).toMatch(/age: .*number/)
    },
  )

  test('a transforming schema shows clients what they write, and what they read', async () => {
    const length = z.object({
      text: z
        .string()
        .transform((value) => value.length)
        .pipe(z.number()),
    })
    const server = createServer({
      ...about,
      tools: [
        tool('t', {
          description: 't',
          input: length,
          output: length,
          run: ({ text: size }) => ({ text: 'x'.repeat(size) }),
        }),
      ],
    })
    expect(await resultOf(server, 'tools/list')).toMatchObject({
      tools: [
        {
          inputSchema: { properties: { text: { type: 'string' } } },
          outputSchema: { properties: { text: { type: 'number' } } },
        },
      ],
    })
    expect(await callTool(server, 't', { text: 'abc' })).toMatchObject({ structuredContent: { text: 3 } })
  })

  test('a tool without an input schema rejects every argument by its name', async () => {
    const server = createServer({ ...about, tools: [tool('t', { description: 't', run: () => 'ran' })] })
    expect(textOf(await callTool(server, 't', {}))).toBe('ran')
    const rejected = textOf(await callTool(server, 't', { 'a/b': 1, c: 2 }))
    expect(rejected).toContain('- a/b: Nothing is allowed here.\n- c: Nothing is allowed here.')
  })

  test('calls that arrive while the validator of JSON Schema is loaded are all checked', async () => {
    const server = createServer({ ...about, ...withInput(text({ type: 'string' })) })
    const results = await Promise.all([1, 'a', 2].map((a) => callTool(server, 't', { a })))
    expect(results.map(({ isError }) => isError === true)).toEqual([true, false, true])
  })

  test('another compiler may be given for JSON Schema', async () => {
    const compiled: JsonObject[] = []
    const compileSchema = (schema: JsonObject) => {
      compiled.push(schema)
      return (value: unknown) => (value === undefined ? [] : [{ path: '/a', message: 'is never right' }])
    }
    const server = createServer({ ...about, ...withInput(text({ type: 'string' })), compileSchema })
    expect(textOf(await callTool(server, 't', { a: 'b' }))).toContain('- a: is never right')
    await callTool(server, 't', { a: 'b' })
    expect(compiled).toHaveLength(1)
  })

  test('a compiler that refuses a schema is quoted', () => {
    const compileSchema = () => {
      throw new Error('no such format: moon')
    }
    expect(() => createServer({ ...about, ...withInput({ type: 'object' }), compileSchema })).toThrow(
      /tool "t", input: .*moon/,
    )
  })

  test('are copied: later changes by the author have no effect', async () => {
    const properties: Record<string, JsonObject> = { a: { type: 'string' } }
    const server = createServer({ ...about, ...withInput({ type: 'object', properties }) })
    properties['a'] = { type: 'number' }
    expect(await resultOf(server, 'tools/list')).toMatchObject({
      tools: [{ inputSchema: { properties: { a: { type: 'string' } } } }],
    })
    expect(await callTool(server, 't', { a: 'b' })).not.toHaveProperty('isError')
  })

  test('a property called __proto__ is validated like any other', async () => {
    const input: JsonObject = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    const list = await resultOf(createServer({ ...about, ...withInput(input) }), 'tools/list')
    expect(JSON.stringify(list)).toContain('"properties":{"__proto__":{"type":"string"}}')
  })
})

const row = z.object({ a: z.string(), b: z.string(), c: z.string() })
const rows = z.object({ rows: z.array(row) })
const server = (input: AnySchema, options: Partial<ServerDefinition> = {}, maxArgumentElements?: number) =>
  createServer({
    name: 'demo',
    version: '1',
    state: false,
    tools: [tool('t', { description: 't', input, maxArgumentElements, run: () => 'accepted' })],
    ...options,
  })
const many = (count: number, item: JsonObject = {}) => ({ rows: Array.from({ length: count }, () => item) })

describe('arguments', () => {
  test.each([
    ['by default', 10_000, undefined],
    ['of the tool', 70, 70],
  ] as const)('with more elements than the bound %s are rejected', async (_, bound, own) => {
    const loose = server(z.object({ rows: z.array(z.unknown()) }), {}, own)
    expect(textOf(await callTool(loose, 't', { rows: Array(bound - 1).fill(1) }))).toBe('accepted')
    const result = await callTool(loose, 't', { rows: Array(bound).fill(1) })
    expect([result['isError'], textOf(result)]).toEqual([true, expect.stringContaining(`more than ${bound} elements`)])
  })

  test.each([0, -1, 1.5, Number.NaN])('cannot have a bound of %s elements', (bound) => {
    expect(() => server(rows, {}, bound)).toThrow(`tool "t": maxArgumentElements is ${bound}: write a whole number`)
  })

  test('that lack thousands of members are answered with the first 20 faults, in words of zod', async () => {
    const text = textOf(await callTool(server(rows), 't', many(3000)))
    expect(text.split('\n')).toHaveLength(22)
    expect(text).toContain('- rows.6.b: Invalid input: expected string, received undefined\n- and more')
  })

  test('are counted to the last fault where these are few', async () => {
    const text = textOf(await callTool(server(rows), 't', many(10)))
    expect(text.split('\n').at(-1)).toBe('- and 10 more')
  })

  test('that could break another schema in more than 10,000 places are rejected before it sees them', async () => {
    let seen = 0
    const input = z.object({ rows: z.preprocess((value) => (seen++, value), z.array(row)) })
    const text = textOf(await callTool(server(input), 't', many(4000)))
    expect([text, seen]).toEqual([expect.stringContaining('more than 10000 possible faults'), 0])
    expect(textOf(await callTool(server(input), 't', many(2000, { a: '', b: '', c: '' })))).toBe('accepted')
    const foreign = toStandardJsonSchema(v.object({ rows: v.array(v.object({ a: v.string(), b: v.string() })) }))
    const refused = textOf(await callTool(server(foreign), 't', many(6000)))
    expect(refused).toContain('more than 10000 possible faults')
    expect(textOf(await callTool(server(foreign), 't', many(3000, { a: '', b: '' })))).toBe('accepted')
  })
})

describe('the search for the first faults', () => {
  const leafs = fc.constantFrom(
    z.string(),
    z.string().min(2),
    z.email(),
    z.number().int().max(5),
    z.boolean(),
    z.enum(['a', 'b']),
    z.literal(1),
    z.null(),
    z.unknown(),
    z.coerce.number(),
    z.string().trim().min(2),
    z.string().transform((text) => text.length),
    z.preprocess((value) => value ?? 'x', z.string()),
    z.string().catch('x'),
    z.string().refine((text) => text !== 'b'),
  )
  const schemas = fc.letrec<{ schema: z.ZodType }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      leafs,
      tie('schema').map((item) => z.array(item).min(1)),
      tie('schema').map((item) => z.record(z.string().max(1), item)),
      tie('schema').map((item) => item.optional()),
      tie('schema').map((item) => item.nullable()),
      tie('schema').map((item) => item.default('d' as never)),
      fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => z.union([one, other])),
      fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => z.tuple([one], other)),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => z.object({ a, b })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => z.strictObject({ a, b: b.optional() })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, rest]) => z.object({ a }).catchall(rest)),
      fc
        .tuple(tie('schema'), tie('schema'))
        .map(([a, b]) =>
          z.discriminatedUnion('a', [z.object({ a: z.literal('a'), b: a }), z.object({ a: z.literal('b'), b })]),
        ),
    ),
  })).schema
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('a', 'b', 'abc', 'a@b.cd', 1, 7, 0.5, true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('value'), { maxKeys: 3 }),
    ),
  })).value

  test('finds no fault in a value that zod accepts, for any schema', () => {
    let found = 0
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const issues = createZodIssueFinder(schema)?.find(value, 20) ?? []
        if (issues.length === 0) return
        found++
        expect(schema.safeParse(value).success).toBe(false)
      }),
      { numRuns: 1000 },
    )
    expect(found).toBeGreaterThan(100)
  })
})
