import { expect, test } from 'vitest'
import { createSchemaPredicate, publishedDefinitions, validatorOf } from './testing/published.ts'

const allows = createSchemaPredicate(publishedDefinitions, { formats: false })

const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const page = { resultType: 'complete', cacheScope: 'private', tools: [] }
const completion = { resultType: 'complete' }
const tool = { name: 'a' }
const text = { type: 'text', text: 'a' }
const response = { jsonrpc: '2.0', id: 1 }

test.each([
  ['a request with text as its id', 'JSONRPCRequest', { ...request, id: 'one' }, true],
  ['a request with an integer as its id', 'JSONRPCRequest', request, true],
  ['a request with a fraction as its id', 'JSONRPCRequest', { ...request, id: 0.5 }, false],
  ['a request with null as its id', 'JSONRPCRequest', { ...request, id: null }, false],
  ['a request with params in an array', 'JSONRPCRequest', { ...request, params: [] }, false],
  ['an error with a fraction as its code', 'Error', { code: -32600.5, message: 'a' }, false],
  [
    'an error response without an id',
    'JSONRPCErrorResponse',
    { jsonrpc: '2.0', error: { code: 1, message: '' } },
    true,
  ],
  [
    'an error response with null as its id',
    'JSONRPCErrorResponse',
    { ...response, id: null, error: { code: 1 } },
    false,
  ],
  ['a result without resultType', 'JSONRPCResultResponse', { ...response, result: {} }, false],
  ['a ttlMs of 0', 'ListToolsResult', { ...page, ttlMs: 0 }, true],
  ['a negative ttlMs', 'ListToolsResult', { ...page, ttlMs: -1 }, false],
  ['a fraction of a millisecond', 'ListToolsResult', { ...page, ttlMs: 0.5 }, false],
  ['a cacheScope of another name', 'ListToolsResult', { ...page, ttlMs: 0, cacheScope: 'shared' }, false],
  ['100 completions', 'CompleteResult', { ...completion, completion: { values: Array(100).fill('a') } }, true],
  ['101 completions', 'CompleteResult', { ...completion, completion: { values: Array(101).fill('a') } }, false],
  ['an input schema that is no object', 'Tool', { ...tool, inputSchema: null }, false],
  ['an input schema of another type than object', 'Tool', { ...tool, inputSchema: { type: 'string' } }, false],
  [
    'an output schema of any type',
    'Tool',
    { ...tool, inputSchema: { type: 'object' }, outputSchema: { type: 'array' } },
    true,
  ],
  ['content of an unknown type', 'ContentBlock', { ...text, type: 'video' }, false],
  ['content of one type with fields of another', 'ContentBlock', { ...text, type: 'image' }, false],
  ['a priority above 1', 'Annotations', { priority: 1.1 }, false],
  [
    'a _meta without what the client can do',
    'RequestParams',
    { _meta: { 'io.modelcontextprotocol/protocolVersion': '1' } },
    false,
  ],
  [
    'a subscription that ends without its id',
    'SubscriptionsListenResult',
    { resultType: 'complete', _meta: {} },
    false,
  ],
  [
    'a form without a mode',
    'ElicitRequestParams',
    { message: 'a', requestedSchema: { type: 'object', properties: {} } },
    true,
  ],
  [
    'a form with an object in it',
    'ElicitRequestParams',
    { message: 'a', requestedSchema: { type: 'object', properties: { a: { type: 'object' } } } },
    false,
  ],
  ['a URL without a mode', 'ElicitRequestParams', { message: 'a', url: 'https://example.com' }, false],
])('%s, a %s, is valid as the published schema says', (_, definition, value, valid) => {
  expect([allows(definition, value), validatorOf(definition).safeParse(value).success]).toEqual([valid, valid])
})

test('an id that JavaScript would round is refused, although the published schema has no bound', () => {
  const rounded = { ...request, id: JSON.parse('9007199254740993') }
  expect(allows('JSONRPCRequest', rounded)).toBe(true)
  expect(validatorOf('JSONRPCRequest').safeParse(rounded).success).toBe(false)
})
