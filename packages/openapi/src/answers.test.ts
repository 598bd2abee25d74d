import type { JsonObject } from '@x/core'
import { describe, expect, test } from 'vitest'
import { type Answer, callTool, documentOf } from './testing/api-kit.ts'

const pages = documentOf({
  parameters: [
    { name: 'page', in: 'query' },
    { name: 'per_page', in: 'query' },
  ],
})
const remove = documentOf({}, { method: 'delete' })
const reply = (body: ConstructorParameters<typeof Response>[0], type: string, init: ResponseInit = {}): Answer => {
  return () => new Response(body, { ...init, headers: { 'content-type': type, ...init.headers } })
}
const png = new Uint8Array([137, 80, 78, 71])
const next = { headers: { link: '<https://api.example.com/v2/things?page=3&other=x>; rel="next"' } }
const hidden = 'password=hunter2'

/** One row for each answer of an API that is a success: the text, and the structured content. */
const successes: readonly (readonly [string, JsonObject, Answer, string, unknown])[] = [
  ['JSON', pages, reply('{"a":1}', 'application/json'), '{"a":1}', { a: 1 }],
  ['a list of JSON', pages, reply('[1]', 'application/vnd.a+json; charset=utf-8'), '[1]', [1]],
  ['half a character', pages, reply(String.raw`{"a":"\ud800"}`, 'application/json'), '{"a":"\uFFFD"}', { a: '\uFFFD' }],
  ['text', pages, reply('hello', 'text/csv'), 'hello', undefined],
  ['XML', pages, reply('<a/>', 'application/xml'), '<a/>', undefined],
  ['nothing', pages, reply(null, '', { status: 204 }), 'Done (status 204, no content)', undefined],
  [
    'a next page',
    pages,
    reply('[]', 'application/json', next),
    '[]\nThere is a next page, with the arguments {"page":3}',
    [],
  ],
]

/** One row for each answer that is an error for the model. */
const failures: readonly (readonly [string, JsonObject, Answer, string | RegExp])[] = [
  [
    'too many bytes',
    pages,
    reply('x'.repeat(101), 'text/plain'),
    'The API answered with more than 100 bytes. Ask for less with per_page',
  ],
  ['other bytes', pages, reply('zip', 'application/zip'), 'The API answered with 3 bytes of the type application/zip'],
  [
    'invalid JSON',
    pages,
    reply('{', 'application/json'),
    'The API answered with a text that is not JSON, although it says so',
  ],
  [
    '400',
    pages,
    reply('{"why":"bad"}', 'application/json', { status: 400 }),
    'GET /things failed with status 400:\n{"why":"bad"}',
  ],
  ['404 in HTML', pages, reply('<p>', 'text/html', { status: 404 }), 'GET /things failed with status 404'],
  [
    '429',
    pages,
    reply(null, '', { status: 429, headers: { 'retry-after': '7' } }),
    'GET /things failed with status 429, retry after 7',
  ],
  ['500', pages, reply(hidden, 'text/plain', { status: 500 }), 'GET /things failed with status 500'],
  [
    'a redirect',
    pages,
    reply(null, '', { status: 302, headers: { location: 'https://evil.example' } }),
    'The API answered with a redirect (status 302), which is not followed',
  ],
  ['no connection', pages, () => Promise.reject(new Error(hidden)), 'The API cannot be reached'],
  [
    'no connection of a write',
    remove,
    () => Promise.reject(new Error(hidden)),
    'The API cannot be reached. The request may have had its effect',
  ],
  [
    'no answer in time',
    remove,
    () => new Promise(() => {}),
    'The API gave no answer in time. The request may have had its effect',
  ],
]

describe('each answer of an API becomes a result', () => {
  test.each(successes)('%s', async (_, document, answer, text, structuredContent) => {
    expect(await callTool(document, {}, { answer })).toMatchObject({ text, isError: false, structuredContent })
  })

  test('an image', async () => {
    const { content } = await callTool(pages, {}, { answer: reply(png, 'image/png') })
    expect(content).toEqual([{ type: 'image', data: 'iVBORw==', mimeType: 'image/png' }])
  })

  test.each(failures)('%s', async (_, document, answer, text) => {
    const options = { maxResponseBytes: 100, timeoutMs: 200 }
    expect(await callTool(document, {}, { answer, options })).toMatchObject({ text, isError: true })
  })

  test('what a failed API says is logged, and hidden from the model', async () => {
    const { text, logged } = await callTool(pages, {}, { answer: reply(hidden, 'text/plain', { status: 503 }) })
    expect(text).not.toContain(hidden)
    expect(logged).toEqual([`GET /things failed with status 503: ${hidden}`])
  })

  test('a body that never ends is not read further', async () => {
    let pulled = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      pulled += 1
      controller.enqueue(new Uint8Array(1000))
    }
    const options = { maxResponseBytes: 10_000 }
    const { isError } = await callTool(
      pages,
      {},
      { answer: reply(new ReadableStream({ pull }), 'text/plain'), options },
    )
    expect([isError, pulled < 20]).toEqual([true, true])
  })

  test('JSON that is too deep', async () => {
    const answer = reply(`${'['.repeat(300)}${']'.repeat(300)}`, 'application/json')
    expect(await callTool(pages, {}, { answer })).toMatchObject({ isError: true })
  })

  test('transform drops what a model does not need', async () => {
    const options = { transform: () => ({ kept: true }) }
    const { structuredContent } = await callTool(pages, {}, { answer: reply('{}', 'application/json'), options })
    expect(structuredContent).toEqual({ kept: true })
  })
})

describe('output', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const responses = { '200': { content: { 'application/json': { schema } } } }
  const document = documentOf({ responses }, { method: 'put' })
  const options = { output: () => true }
  test.each([
    ['a response as described', reply('{"n":1}', 'application/json'), false, '{"n":1}'],
    [
      'a response that breaks its schema',
      reply('{"n":"x"}', 'application/json'),
      true,
      'The request was made, and its response does not match the schema of the document:\n/n: ',
    ],
    ['a response without JSON', reply(null, '', { status: 204 }), true, 'does not match the schema of the document'],
  ])('%s', async (_, answer, isError, text) => {
    const result = await callTool(document, {}, { answer, options })
    expect(result.isError).toBe(isError)
    expect(result.text).toContain(text)
  })
})
