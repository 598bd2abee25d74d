import { describe, expect, test } from 'vitest'
import { expectAgreement, expectSame } from '../testing/agreement.ts'
import {
  checkCreateMessageResult,
  checkInputRequest,
  checkInputRequests,
  checkListRootsResult,
} from './check-results.ts'
import type { Check } from '../basic/failure.ts'

const form = (field: unknown): object => ({
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: { field } } },
})
const page = { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://example.com' } }
const sampling = { messages: [{ role: 'user', content: { type: 'text', text: 'a' } }], maxTokens: 1 }

/** The check of one field of a form. */
const checkField: Check = (field) => {
  const failure = checkInputRequest(form(field))
  return failure && { ...failure, path: failure.path.replace('.params.requestedSchema.properties.field', '') }
}

describe('the checks by hand accept exactly the values that the validators accept', () => {
  test.each(['InputRequest', 'ElicitRequest', 'CreateMessageRequest', 'ListRootsRequest'])(
    'a %s, as published, with one thing wrong, and spoilt anywhere',
    (made) => expectAgreement({ definition: 'InputRequest', check: checkInputRequest }, made),
  )

  test.each<[string, Check]>([
    ['InputRequests', checkInputRequests],
    ['PrimitiveSchemaDefinition', checkField],
    ['CreateMessageResult', checkCreateMessageResult],
    ['ListRootsResult', checkListRootsResult],
  ])('%s, as published, with one thing wrong, and spoilt anywhere', (definition, check) =>
    expectAgreement({ definition, check }),
  )

  test.each<[string, boolean, unknown]>([
    ['of any text', true, { type: 'string', format: 'email', minLength: 1 }],
    ['of another format', false, { type: 'string', format: 'phone' }],
    ['with names to choose from', true, { type: 'string', enum: ['a'] }],
    ['with names, and a member of another kind', true, { type: 'string', enum: ['a'], format: 'phone' }],
    ['with titles, and a member of another kind', true, { type: 'string', oneOf: [], format: 'phone' }],
    ['with what look like names', true, { type: 'string', enum: 'a' }],
    ['with names, and a default that is none', false, { type: 'string', enum: ['a'], default: 1 }],
    ['with several names', true, { type: 'array', items: { type: 'string', enum: ['a'] } }],
    ['with several titles', true, { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }],
    ['with several of nothing', false, { type: 'array', items: {} }],
    [
      'with both at once, one of them damaged',
      true,
      { type: 'array', items: { anyOf: [], type: 'string', enum: [1] } },
    ],
    ['with a limit that JSON does not have', false, { type: 'number', maximum: Number.POSITIVE_INFINITY }],
    ['of an object', false, { type: 'object' }],
  ])('a field %s: %s', (_, isTaken, field) => {
    expectSame({ definition: 'PrimitiveSchemaDefinition', check: checkField }, field)
    expect(checkField(field) === undefined).toBe(isTaken)
  })
})

test.each([
  ['in what a tool gave', { type: 'tool_result', toolUseId: 'a', content: [], structuredContent: Number.NaN }],
  ['in what a tool is given', { type: 'tool_use', id: 'a', name: 'b', input: { a: Number.NaN } }],
  ['in the _meta of a message', { type: 'text', text: 'a', _meta: { a: Number.NaN } }],
])('what JSON does not have is refused %s', (_, content) => {
  const message = { role: 'user', content, model: 'm' }
  expectSame({ definition: 'CreateMessageResult', check: checkCreateMessageResult }, message)
  expect(checkCreateMessageResult(message)?.expected).toBe('what JSON can carry')
})

describe('a refusal says where, what belongs there and what stood there', () => {
  test.each<[unknown, string, string, string]>([
    ['x', '', 'an object', 'a string'],
    [{}, '.method', 'one of "elicitation/create", "sampling/createMessage", "roots/list"', 'nothing'],
    [{ ...page, params: { ...page.params, url: 1 } }, '.params.url', 'a string', 'a number'],
    [{ ...page, params: { ...page.params, mode: 'page' } }, '.params.mode', '"form"', 'a string'],
    [
      form({ type: 'string', enum: ['a', 1], minLength: 'x' }),
      '.params.requestedSchema.properties.field.minLength',
      'an integer',
      'a string',
    ],
    [
      form({ type: 'array', items: { anyOf: [{ const: 'a' }] } }),
      '.params.requestedSchema.properties.field.items.anyOf[0].title',
      'a string',
      'nothing',
    ],
    [
      form({ type: 'array', items: { type: 'string' } }),
      '.params.requestedSchema.properties.field.items.enum',
      'an array',
      'nothing',
    ],
    [
      { method: 'sampling/createMessage', params: { ...sampling, maxTokens: 0.5 } },
      '.params.maxTokens',
      'an integer',
      'a number',
    ],
    [
      {
        method: 'sampling/createMessage',
        params: { ...sampling, messages: [{ role: 'user', content: [{ type: 'video' }] }] },
      },
      '.params.messages[0].content[0].type',
      'one of "text", "image", "audio", "tool_use", "tool_result"',
      'a string',
    ],
    [{ method: 'roots/list', params: { _meta: [] } }, '.params._meta', 'an object', 'an array'],
  ])('%j', (request, path, expected, got) => {
    expect(checkInputRequest(request)).toEqual({ path, expected, got })
  })

  test('under the key of the request, no more of which is repeated than a reader needs', () => {
    const failure = checkInputRequests({ ['k'.repeat(100_000)]: {} })
    expect(failure).toMatchObject({ path: expect.stringMatching(/^\["k{100}"\]\.method$/), got: 'nothing' })
  })
})
