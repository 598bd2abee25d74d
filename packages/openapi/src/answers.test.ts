import type { JsonObject, JsonValue } from '@x/core'
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

  test('a text is read by the charset of its media type', async () => {
    const answer = reply(new Uint8Array([0x65, 0xe9]), 'text/plain; charset=iso-8859-1')
    expect((await callTool(pages, {}, { answer })).text).toBe('eé')
    const unknown = reply('é', 'text/plain; charset=none')
    expect((await callTool(pages, {}, { answer: unknown })).text).toBe('é')
  })

  test('transform drops what a model does not need', async () => {
    const options = { transform: () => ({ kept: true }) }
    const { structuredContent } = await callTool(pages, {}, { answer: reply('{}', 'application/json'), options })
    expect(structuredContent).toEqual({ kept: true })
  })
})

describe('a number that is rounded when it is parsed', () => {
  const id = '{"id": 9007199254740993}'
  test.each([
    ['an id', id],
    ['a number beyond all others', '{"a":1e400}'],
  ])('is in the text of the API, and in no structured content: %s', async (_, json) => {
    const result = await callTool(pages, {}, { answer: reply(json, 'application/json') })
    expect(result).toMatchObject({ text: json, structuredContent: undefined, isError: false })
  })

  test.each(['{"id":"9007199254740993"}', '{"id":9007199254740992}', '{"id":0.1234567890123456}', '{"id":1e300}'])(
    'is not in %s',
    async (json) => {
      const { structuredContent } = await callTool(pages, {}, { answer: reply(json, 'application/json') })
      expect(structuredContent).toEqual(JSON.parse(json))
    },
  )

  test('is announced in what transform returns', async () => {
    const options = { transform: (value: JsonValue) => value }
    const { text } = await callTool(pages, {}, { answer: reply(id, 'application/json'), options })
    expect(text).toBe(
      '{"id":9007199254740992}\nIntegers beyond 9007199254740991 are rounded here. Do not use them as ids',
    )
  })

  test('stays in structured content that the tool promises', async () => {
    const responses = { '200': { content: { 'application/json': { schema: { type: 'object' } } } } }
    const options = { output: () => true }
    const result = await callTool(documentOf({ responses }), {}, { answer: reply(id, 'application/json'), options })
    expect(result).toMatchObject({ text: id, structuredContent: { id: 9007199254740992 } })
  })
})

describe('a write that may have had its effect says so', () => {
  const write = documentOf({ parameters: [{ name: 'limit', in: 'query' }] }, { method: 'post' })
  const effect = '. The request may have had its effect'
  const fail = (): never => {
    throw new Error(hidden)
  }
  test.each<[string, Answer, string]>([
    ['too many bytes', reply('x'.repeat(101), 'text/plain'), 'The API answered with more than 100 bytes'],
    ['other bytes', reply('zip', 'application/zip'), 'The API answered with 3 bytes of the type application/zip'],
    [
      'invalid JSON',
      reply('OK', 'application/json'),
      'The API answered with a text that is not JSON, although it says so',
    ],
    [
      'a redirect',
      reply(null, '', { status: 303, headers: { location: '/o/1' } }),
      'The API answered with a redirect (status 303), which is not followed',
    ],
    ['502', reply('x', 'text/plain', { status: 502 }), 'POST /things failed with status 502'],
    ['a body that breaks off', reply(new ReadableStream({ pull: fail }), 'text/plain'), 'The API cannot be reached'],
  ])('%s', async (_, answer, text) => {
    const result = await callTool(write, {}, { answer, options: { maxResponseBytes: 100 } })
    expect(result).toMatchObject({ text: `${text}${effect}`, isError: true })
  })

  test('if transform throws, whose error is logged', async () => {
    const { text, logged } = await callTool(write, {}, { options: { transform: fail } })
    expect(text).toBe(`The response of the API cannot be shown, because the option transform failed${effect}`)
    expect(logged).toEqual([expect.stringContaining(hidden)])
  })

  test('if the credential fails after the response, and not before the request', async () => {
    const credential = { headers: () => ({}), onResponse: fail }
    expect((await callTool(write, {}, { options: { credential } })).text).toContain(effect)
    const broken = { headers: fail, onResponse: () => undefined }
    expect((await callTool(write, {}, { options: { credential: broken } })).text).not.toContain(effect)
    const silent = { headers: () => new Promise<never>(() => {}), onResponse: () => undefined }
    const late = await callTool(write, {}, { options: { credential: silent, timeoutMs: 50 } })
    expect(late.text).toBe('The API gave no answer in time')
  })

  test('unless the API refused it', async () => {
    const { text } = await callTool(write, {}, { answer: reply('no', 'text/plain', { status: 409 }) })
    expect(text).toBe('POST /things failed with status 409:\nno')
  })
})

describe('the arguments of a next page are those that the tool accepts', () => {
  const text = { schema: { type: 'string' } }
  const texts = { schema: { type: 'array', items: { type: 'string' } } }
  const numbers = { schema: { type: ['array', 'null'], items: { type: 'integer' } } }
  test.each<[string, JsonObject, JsonObject, string, JsonObject | undefined]>([
    ['a text of digits', text, {}, 'q=00123', { q: '00123' }],
    ['a text like a number', text, {}, 'q=123', { q: '123' }],
    ['a number', { schema: { type: 'integer' } }, {}, 'q=2', { q: 2 }],
    ['a yes', { schema: { type: 'boolean' } }, {}, 'q=true', { q: true }],
    ['a list', texts, {}, 'q=1&q=b', { q: ['1', 'b'] }],
    ['a list of one', texts, {}, 'q=a', { q: ['a'] }],
    ['a list of numbers', numbers, {}, 'q=1&q=2', { q: [1, 2] }],
    ['a list in one value', { ...texts, explode: false }, {}, 'q=a%2Cb,c', { q: ['a,b', 'c'] }],
    ['a list with pipes', { ...texts, style: 'pipeDelimited', explode: false }, {}, 'q=a%7Cb', { q: ['a', 'b'] }],
    ['a list with spaces', { ...texts, style: 'spaceDelimited', explode: false }, {}, 'q=a+b', { q: ['a', 'b'] }],
    ['content', { content: { 'application/json': { schema: { type: 'object' } } } }, {}, 'q=%7B%7D', { q: {} }],
    ['what is the same as before', texts, { q: ['a', 'b'] }, 'q=a&q=b', undefined],
    ['what no argument can say', { schema: { type: 'integer' } }, {}, 'q=next', undefined],
  ])('%s', async (_, parameter, args, query, next) => {
    const document = documentOf({ parameters: [{ name: 'q', in: 'query', ...parameter }] })
    const headers = { link: `<https://api.example.com/v2/things?${query}>; rel="next"` }
    const { content } = await callTool(document, args, { answer: reply('[]', 'application/json', { headers }) })
    const line = { type: 'text', text: `There is a next page, with the arguments ${JSON.stringify(next)}` }
    expect(content.slice(1)).toEqual(next === undefined ? [] : [line])
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
