import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Completer, createServer, prompt, resource, resourceTemplate } from '../index.ts'
import { errorOf, invalidParams, resultOf } from '../testing/ask.ts'

const cities = ['Berlin', 'Bern', 'Bremen', 'Paris']
const startingWith: Completer = (value) => cities.filter((city) => city.startsWith(value))
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)
const input = z.object({ city: z.string(), street: z.string(), other: z.string().optional() })
const server = createServer({
  name: 'demo',
  version: '1.0.0',
  prompts: [
    prompt('address', {
      input,
      complete: {
        city: startingWith,
        street: async (value, { arguments: known, ctx }) => [value, `${known['city']}`, `${ctx.can('roots')}`],
      },
      run: () => '',
    }),
    prompt('secret', { input, complete: { city: startingWith }, visibleTo: () => false, run: () => '' }),
    prompt('__proto__', {
      input: z.object({ constructor: z.string() }),
      complete: { constructor: () => ['x'] },
      run: () => '',
    }),
  ],
  resources: [resource('city://Bern', { name: 'Bern', read: () => '' })],
  resourceTemplates: [
    resourceTemplate('city://{name}', { name: 'city', complete: { name: startingWith }, read: () => '' }),
    resourceTemplate('count://{n}', {
      name: 'count',
      complete: { n: (value) => numbers(Number(value)) },
      read: () => '',
    }),
    resourceTemplate('part://{n}', {
      name: 'part',
      complete: { n: (value) => ({ values: numbers(Number(value)), total: 5000 }) },
      read: () => '',
    }),
    resourceTemplate('some://{n}', {
      name: 'some',
      complete: { n: () => ({ values: ['a'], hasMore: true }) },
      read: () => '',
    }),
  ],
})
const address = { type: 'ref/prompt', name: 'address' }
const completion = async (ref: JsonObject, name: string, value: string, context?: JsonObject) => {
  const result = await resultOf(server, 'completion/complete', {
    ref,
    argument: { name, value },
    ...(context && { context }),
  })
  return result['completion']
}

describe('suggestions', () => {
  test('come for an argument of a prompt', async () => {
    expect(await completion(address, 'city', 'Ber')).toEqual({ values: ['Berlin', 'Bern'], total: 2, hasMore: false })
  })

  test('come for a variable of a template', async () => {
    const ref = { type: 'ref/resource', uri: 'city://{name}' }
    expect(await completion(ref, 'name', 'P')).toEqual({ values: ['Paris'], total: 1, hasMore: false })
  })

  test('may depend on arguments that are known already', async () => {
    const context = { arguments: { city: 'Bern' } }
    expect(await completion(address, 'street', 'a', context)).toMatchObject({ values: ['a', 'Bern', 'false'] })
    expect(await completion(address, 'street', 'a')).toMatchObject({ values: ['a', 'undefined', 'false'] })
  })

  test.each([
    ['count', '100', { values: numbers(100), total: 100, hasMore: false }],
    ['count', '101', { values: numbers(100), total: 101, hasMore: true }],
    ['part', '3', { values: numbers(3), total: 5000, hasMore: true }],
    ['part', '300', { values: numbers(100), total: 5000, hasMore: true }],
    ['some', '', { values: ['a'], hasMore: true }],
  ])(
    'of %s, asked for %s, are a hundred at most, and say whether there are more',
    async (template, value, expected) => {
      expect(await completion({ type: 'ref/resource', uri: `${template}://{n}` }, 'n', value)).toEqual(expected)
    },
  )

  test('are empty for an argument without a completer', async () => {
    expect(await completion(address, 'other', 'a')).toEqual({ values: [], hasMore: false })
  })

  test('come for names that every object has', async () => {
    expect(await completion({ type: 'ref/prompt', name: '__proto__' }, 'constructor', '')).toMatchObject({
      values: ['x'],
    })
  })
})

test.each([
  ['an unknown prompt', { ref: { type: 'ref/prompt', name: 'unknown' } }, 'Unknown prompt'],
  ['a prompt that is hidden', { ref: { type: 'ref/prompt', name: 'secret' } }, 'Unknown prompt: "secret"'],
  ['an unknown template', { ref: { type: 'ref/resource', uri: 'other://{a}' } }, 'Unknown resource template'],
  [
    'a resource that has nothing to complete',
    { ref: { type: 'ref/resource', uri: 'city://Bern' } },
    'Unknown resource template',
  ],
  ['an unknown argument', { ref: address, argument: { name: 'country', value: '' } }, 'city, street, other'],
  [
    'an argument that every object has',
    { ref: address, argument: { name: 'toString', value: '' } },
    'city, street, other',
  ],
  ['an unknown kind of reference', { ref: { type: 'ref/tool', name: 'a' } }, 'ref'],
  ['a value that is no text', { ref: address, argument: { name: 'city', value: 7 } }, 'argument'],
])('%s is refused', async (_, params, reason) => {
  const error = await errorOf(server, 'completion/complete', { argument: { name: 'city', value: '' }, ...params })
  expect(error).toMatchObject({ code: invalidParams, message: expect.stringContaining(reason) })
})
