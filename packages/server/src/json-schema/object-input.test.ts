import type { JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type AnySchema, createServer, prompt, tool } from '../index.ts'
import { callTool, resultOf, textOf } from '../testing/ask.ts'

const string = { type: 'string' }
const number = { type: 'number' }
const byId = z.object({ id: z.number() })
const byName = z.object({ name: z.string() })
const shapes = [
  z.object({ kind: z.literal('circle'), radius: z.number() }).describe('A round one.'),
  z.object({ kind: z.literal('square'), side: z.number(), label: z.string().optional() }),
] as const
const kindForms = [
  { type: 'string', const: 'circle' },
  { type: 'string', const: 'square' },
]

interface UnionCase {
  readonly input: AnySchema
  /** The members that the listed schema has, besides the type. */
  readonly served: JsonObject
  /** The sets of arguments in the description. */
  readonly sets: string
  readonly good: JsonObject
  readonly bad: JsonObject
}

const unionCases: [string, UnionCase][] = [
  [
    'z.union',
    {
      input: z.union([byId, byName]),
      served: { properties: { id: number, name: string } },
      sets: '{ id } or { name }',
      good: { name: 'a' },
      bad: { name: 7 },
    },
  ],
  [
    'z.discriminatedUnion',
    {
      input: z.discriminatedUnion('kind', shapes),
      served: {
        properties: { kind: { anyOf: kindForms }, radius: number, side: number, label: string },
        required: ['kind'],
      },
      sets: '{ kind: "circle", radius } (A round one) or { kind: "square", side, label? }',
      good: { kind: 'circle', radius: 1 },
      bad: { kind: 'circle', side: 1 },
    },
  ],
  [
    'a union of strict objects in a union, one of which has an id',
    {
      input: z.union([
        z.strictObject({ id: z.number() }),
        z.union([z.strictObject({ id: z.string() }).meta({ id: 'T' })]),
      ]),
      served: {
        properties: { id: { anyOf: [number, string] } },
        required: ['id'],
        additionalProperties: false,
        $defs: { T: { type: 'object', properties: { id: string }, required: ['id'], additionalProperties: false } },
      },
      sets: '',
      good: { id: 'a' },
      bad: { id: true },
    },
  ],
  [
    'a schema without a type that requires one of two members',
    {
      input: {
        title: 'Find',
        properties: { a: string, b: string },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      served: { title: 'Find', properties: { a: string, b: string } },
      sets: '{ a, b? } or { a?, b }',
      good: { b: 'x' },
      bad: { a: 'x', b: 'x' },
    },
  ],
  [
    'an intersection of references with a union',
    {
      input: {
        allOf: [{ $ref: '#/$defs/base' }, { anyOf: [{ $ref: '#/$defs/one' }, { $ref: '#/$defs/two' }] }],
        $defs: {
          base: { type: 'object', properties: { at: number }, required: ['at'] },
          one: { type: 'object', properties: { at: { minimum: 1 } } },
          two: { type: 'object', additionalProperties: string },
        },
      },
      served: {
        properties: { at: { anyOf: [{ allOf: [number, { minimum: 1 }] }, { allOf: [number, string] }] } },
        required: ['at'],
        $defs: expect.anything(),
      },
      sets: '',
      good: { at: 1 },
      bad: { at: 0 },
    },
  ],
]

test.each(unionCases)('%s is listed as one object, and checked as a union [ROB-010 TOL-019]', async (_, row) => {
  const find = tool('find', { description: 'Finds.', input: row.input, run: (args) => JSON.stringify(args) })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [find] })
  const [{ inputSchema, description }] = z
    .tuple([z.object({ inputSchema: z.looseObject({}), description: z.string() })])
    .parse((await resultOf(server, 'tools/list'))['tools'])
  const { $schema: _schema, ...listed } = inputSchema
  expect(listed).toEqual({ type: 'object', ...row.served })
  const sentence = row.sets === '' ? '' : `\n\nGive one of these sets of arguments: ${row.sets}.`
  expect(description).toBe(`Finds.${sentence}`)
  expect(textOf(await callTool(server, 'find', row.good))).toBe(JSON.stringify(row.good))
  expect(await callTool(server, 'find', row.bad)).toMatchObject({ isError: true })
})

test('an object in JSON Schema keeps its conditions, and is checked by them', async () => {
  const input = {
    type: 'object',
    properties: { a: string, b: string },
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  }
  const find = tool('find', { description: 'Finds.', input, run: () => 'found' })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [find] })
  expect((await resultOf(server, 'tools/list'))['tools']).toMatchObject([{ description: 'Finds.', inputSchema: input }])
  expect(textOf(await callTool(server, 'find', { a: 'x' }))).toBe('found')
  expect(await callTool(server, 'find', { a: 'x', b: 'x' })).toMatchObject({ isError: true })
})

const described = z.object({ text: z.string() }).meta({ id: 'Args' }).describe('What to say')
const tree = z
  .object({
    text: z.string(),
    get children() {
      return z.array(tree).optional()
    },
  })
  .meta({ id: 'Tree' })

test.each([
  ['with an id', described],
  ['that refers to itself', tree],
])('a schema %s is an object, as an input, an output and the arguments of a prompt', async (_title, schema) => {
  const say = tool('say', { description: 'Says', input: schema, output: schema, run: (args) => args })
  const saying = prompt('saying', {
    description: 'Says',
    input: z.object({ text: z.string() }).meta({ id: 'P' }),
    run: ({ text }) => text,
  })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [say], prompts: [saying] })
  const objectSchema = expect.objectContaining({
    type: 'object',
    properties: expect.objectContaining({ text: { type: 'string' } }),
    $defs: expect.anything(),
  })
  expect((await resultOf(server, 'tools/list'))['tools']).toMatchObject([
    { inputSchema: objectSchema, outputSchema: objectSchema },
  ])
  expect((await resultOf(server, 'prompts/list'))['prompts']).toMatchObject([
    { arguments: [{ name: 'text', required: true }] },
  ])
  expect(await callTool(server, 'say', { text: 'hi' })).toMatchObject({ structuredContent: { text: 'hi' } })
})

test('combinations of many unions are combined, so that the schema stays small', async () => {
  const unions = Array.from({ length: 20 }, (_, index) => ({
    anyOf: [{ required: [`a${index}`] }, { properties: { [`b${index}`]: string } }],
  }))
  const find = tool('find', { description: 'Finds', input: { allOf: unions }, run: () => 'x' })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [find] })
  expect(JSON.stringify(await resultOf(server, 'tools/list')).length).toBeLessThan(3000)
})
