import { describe, expect, test } from 'vitest'
import { expectAgreement, expectSame } from '../testing/agreement.ts'
import { checkResult } from './check-results.ts'
import { type Method, methods } from './methods.ts'

const definitions: { readonly [M in Method]: string } = {
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'completion/complete': 'CompleteResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
}

const names = Object.keys(methods) as Method[]

describe('the checks by hand accept exactly the values that the validators accept', () => {
  test.each(names)('%s, for results as published, with one thing wrong, and spoilt anywhere', (method) => {
    expectAgreement({ definition: definitions[method], check: (value) => checkResult(method, value) })
  })

  const called = { resultType: 'complete', content: [] }
  const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

  test.each<[string, object]>([
    ['is not a number', { structuredContent: { rows: [{ price: Number.NaN }] } }],
    ['is a function', { structuredContent: () => 0 }],
    ['is nothing in a list', { structuredContent: [undefined] }],
    ['is nothing in an object', { structuredContent: { a: undefined } }],
    ['is as deep as may be', { structuredContent: deep(256) }],
    ['is deeper than may be', { structuredContent: deep(257) }],
    ['is nothing in _meta', { _meta: { a: undefined } }],
    ['is as deep as may be in _meta', { _meta: { a: deep(256) } }],
    ['is deeper than may be in _meta', { _meta: { a: deep(257) } }],
    ['is a function in the _meta of content', { content: [{ type: 'text', text: '', _meta: { a: () => 0 } }] }],
    [
      'is a function where the type does not look',
      { more: () => 0, content: [{ type: 'text', text: '', more: () => 0 }] },
    ],
  ])('also where a result in memory has what JSON does not: %s', (_, members) => {
    expectSame(
      { definition: 'CallToolResult', check: (value) => checkResult('tools/call', value) },
      { ...called, ...members },
    )
  })
})

describe('what changes made at random seldom hit is judged as the validators do', () => {
  const page = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }
  const tool = { name: 'a', inputSchema: { type: 'object' } }

  test.each<[string, Method, object]>([
    [
      'contents that are valid as text, with any blob',
      'resources/read',
      { contents: [{ uri: 'a:b', text: '', blob: 1 }] },
    ],
    [
      'contents that are valid as bytes, with any text',
      'resources/read',
      { contents: [{ uri: 'a:b', text: 1, blob: '' }] },
    ],
    ['contents that are neither', 'resources/read', { contents: [{ uri: 'a:b', text: 1, blob: 1 }] }],
    [
      'an output schema with what JSON does not have',
      'tools/list',
      { tools: [{ ...tool, outputSchema: { a: () => 0 } }] },
    ],
    [
      'an input schema with what JSON does not have',
      'tools/list',
      { tools: [{ ...tool, inputSchema: { type: 'object', a: 1n } }] },
    ],
  ])('%s', (_, method, members) => {
    expectSame(
      { definition: definitions[method], check: (value) => checkResult(method, value) },
      { ...page, ...members },
    )
  })
})

describe('a refusal says where, what belongs there and what stood there', () => {
  const page = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }
  const text = { type: 'text', text: '' }

  test.each<[Method, unknown, string, string, string]>([
    ['tools/call', [], '', 'an object', 'an array'],
    ['tools/call', { resultType: 'complete', content: 'x' }, '.content', 'an array', 'a string'],
    [
      'tools/call',
      { resultType: 'complete', content: [text, { type: 'text' }] },
      '.content[1].text',
      'a string',
      'nothing',
    ],
    ['tools/call', { content: [] }, '.resultType', 'a string', 'nothing'],
    [
      'tools/call',
      { resultType: 'complete', content: [], structuredContent: { 'a b': [Number.NaN] } },
      '.structuredContent',
      'what JSON can carry',
      'an object',
    ],
    ['tools/list', { ...page, ttlMs: -1, tools: [] }, '.ttlMs', 'an integer from 0 up', 'a number'],
    [
      'tools/list',
      { ...page, tools: [{ name: 'x', inputSchema: { type: 'array' } }] },
      '.tools[0].inputSchema.type',
      '"object"',
      'a string',
    ],
    ['resources/read', { ...page, contents: [{ uri: 'a:b', blob: 1 }] }, '.contents[0].blob', 'a string', 'a number'],
    ['resources/read', { ...page, contents: [{ uri: 'a:b' }] }, '.contents[0].text', 'a string', 'nothing'],
    [
      'completion/complete',
      { resultType: 'complete', completion: { values: Array(101).fill('') } },
      '.completion.values',
      'at most 100 strings',
      'an array',
    ],
    [
      'subscriptions/listen',
      { resultType: 'complete', _meta: {} },
      '._meta["io.modelcontextprotocol/subscriptionId"]',
      'a string or an integer',
      'nothing',
    ],
  ])('%s %j', (method, value, path, expected, got) => {
    expect(checkResult(method, value)).toEqual({ path, expected, got })
  })
})

test('a member __proto__ of a map is judged like any other, because the value is used as it came', () => {
  const capabilities: unknown = JSON.parse('{"extensions":{"__proto__":1}}')
  const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'public', supportedVersions: [], capabilities }
  expect(checkResult('server/discover', result)?.path).toBe('.capabilities.extensions.__proto__')
})
