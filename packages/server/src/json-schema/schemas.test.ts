import { toStandardJsonSchema } from '@valibot/to-json-schema'
import type { JsonObject } from '@x/schema'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type AnySchema, createServer, tool } from '../index.ts'
import { callTool, resultOf, textOf } from '../testing/ask.ts'

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

  test('are copied: what the author does to them later changes nothing', async () => {
    const properties: Record<string, JsonObject> = { a: { type: 'string' } }
    const server = createServer({ ...about, ...withInput({ type: 'object', properties }) })
    properties['a'] = { type: 'number' }
    expect(await resultOf(server, 'tools/list')).toMatchObject({
      tools: [{ inputSchema: { properties: { a: { type: 'string' } } } }],
    })
    expect(await callTool(server, 't', { a: 'b' })).not.toHaveProperty('isError')
  })

  test('a property called __proto__ stays one', async () => {
    const input: JsonObject = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    const list = await resultOf(createServer({ ...about, ...withInput(input) }), 'tools/list')
    expect(JSON.stringify(list)).toContain('"properties":{"__proto__":{"type":"string"}}')
  })
})
