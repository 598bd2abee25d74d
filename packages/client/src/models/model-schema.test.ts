import type { JsonObject, Tool } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { type AnthropicTool, anthropicTools } from './index.ts'

describe('a schema', () => {
  const listSchema = async (inputSchema: Tool['inputSchema']): Promise<AnthropicTool | undefined> => {
    const { definitions } = await anthropicTools({
      listTools: async () => [{ name: 't', description: 'Does it.', inputSchema }],
      callTool: () => Promise.reject(new Error('not called')),
    })
    return definitions[0]
  }

  const string = { type: 'string' }
  test.each<[string, JsonObject, JsonObject]>([
    ['has properties', {}, { properties: {} }],
    [
      'has properties in every object',
      { properties: { a: { type: 'object' } } },
      { properties: { a: { type: 'object', properties: {} } } },
    ],
    ['has no dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, { properties: {} }],
    [
      'has no union at its root',
      { oneOf: [{ properties: { a: string }, required: ['a'] }, { properties: { b: string } }] },
      { properties: { a: string, b: string } },
    ],
    [
      'has no conditions at its root',
      { properties: { a: string }, allOf: [{ required: ['a'] }], not: { required: ['b'] }, enum: [{ a: 'x' }] },
      { properties: { a: string }, required: ['a'] },
    ],
    [
      'has the properties of a root whose union cannot be joined',
      { properties: { a: string }, oneOf: [string] },
      { properties: { a: string } },
    ],
    [
      'has no unknown format',
      { properties: { a: { ...string, format: 'cuid2' } } },
      { properties: { a: { ...string, description: 'Format: cuid2.' } } },
    ],
    [
      'has no look-around',
      { properties: { a: { ...string, description: 'An a.', pattern: '^(?!x)' } } },
      { properties: { a: { ...string, description: 'An a. Matches the regular expression ^(?!x)' } } },
    ],
    [
      'has no tuple',
      { properties: { a: { type: 'array', prefixItems: [string, { type: 'number' }], items: false } } },
      {
        properties: {
          a: {
            type: 'array',
            items: { anyOf: [string, { type: 'number' }] },
            maxItems: 2,
            description: 'Items in this order: string, number.',
          },
        },
      },
    ],
    [
      'has no tuple of draft-07',
      { properties: { a: { type: 'array', items: [string, string], additionalItems: { type: 'number' } } } },
      {
        properties: {
          a: {
            type: 'array',
            items: { anyOf: [string, { type: 'number' }] },
            description: 'Items in this order: string, string, ….',
          },
        },
      },
    ],
    [
      'has items in every list',
      { properties: { a: { type: 'array' } } },
      { properties: { a: { type: 'array', items: {} } } },
    ],
    [
      'that refers to another document is open',
      { properties: { a: { $ref: 'https://example.com/a.json' } } },
      { properties: {}, additionalProperties: {} },
    ],
    [
      'that refers to a property with another name is open',
      { properties: { größe: string, b: { $ref: '#/properties/größe' } } },
      { properties: {}, additionalProperties: {} },
    ],
  ])('%s', async (_, members, expected) => {
    const listed = await listSchema({ type: 'object', ...members })
    expect(listed?.input_schema).toEqual({ type: 'object', ...expected })
  })

  test('with a union at its root has the alternatives in the description', async () => {
    const oneOf = [{ properties: { a: string }, required: ['a'] }, { properties: { b: string } }]
    const listed = await listSchema({ type: 'object', oneOf })
    expect(listed?.description).toBe('Does it. Give one of these sets of arguments: { a } or { b? }.')
  })

  test('whose references repeat a union without end takes no more work than is allowed', async () => {
    const level = (index: number): JsonObject => ({
      allOf: [{ $ref: `#/$defs/l${index + 1}` }, { $ref: `#/$defs/l${index + 1}` }],
    })
    const $defs = {
      ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`l${index}`, level(index)])),
      l60: {},
    }
    const listed = await listSchema({
      type: 'object',
      properties: { a: string },
      allOf: [{ $ref: '#/$defs/l0' }],
      $defs,
    })
    expect(listed?.input_schema).toMatchObject({ properties: { a: string } })
    expect(listed?.input_schema).not.toHaveProperty('allOf')
  })
})
