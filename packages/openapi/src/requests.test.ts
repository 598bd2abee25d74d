import type { JsonObject } from '@x/core'
import { describe, expect, test } from 'vitest'
import { apiUrl, callTool, documentOf } from './testing/api-kit.ts'

const v2 = { openapi: undefined, swagger: '2.0' }
const inQuery = (parameter: JsonObject = {}, root: JsonObject = {}): JsonObject =>
  documentOf({ parameters: [{ name: 'q', in: 'query', ...parameter }] }, root)
const ofV2 = (collectionFormat: string): JsonObject => inQuery({ type: 'array', items: {}, collectionFormat }, v2)
const inPath = (parameter: JsonObject = {}, root: JsonObject = {}): JsonObject =>
  documentOf({ parameters: [{ name: 'id', in: 'path', ...parameter }] }, { path: '/things/{id}', ...root })
const inBody = (type: string, media: JsonObject = {}): JsonObject =>
  documentOf({ requestBody: { content: { [type]: media } } }, { method: 'post' })

const form = 'application/x-www-form-urlencoded'
const json = { content: { 'application/json': {} } }
const list = ['a,b', 'c d']
const point = { x: 1, y: 'é' }
const deep = { a: { b: [1, 2] }, c: [{ d: 3 }] }
const twoIds = {
  parameters: [
    { name: 'id', in: 'path' },
    { name: 'id', in: 'query' },
  ],
}
const bodyInQuery = { parameters: [{ name: 'body', in: 'query' }], requestBody: json }
const inherited = {
  parameters: [
    { name: 'q', in: 'query' },
    { name: 'r', in: 'query' },
  ],
  get: { operationId: 'act', parameters: [{ name: 'q', in: 'query', explode: false }] },
}
const components = { parameters: { q: { name: 'q', in: 'query' } }, requestBodies: { b: json } }
const referring = {
  parameters: [{ $ref: '#/components/parameters/q' }],
  requestBody: { $ref: '#/components/requestBodies/b' },
}
const bodyOfV2 = { parameters: [{ name: 'x', in: 'body', schema: {} }] }
const formOfV2 = { parameters: [{ name: 'f', in: 'formData', type: 'array', items: {} }] }
const styled = { schema: { properties: { o: {} } }, encoding: { o: { style: 'deepObject' } } }

/** One row for each feature: the document, the arguments, and the target with the body after a space. */
const rows: readonly (readonly [feature: string, document: JsonObject, args: JsonObject, sent: string])[] = [
  ['a document of 2.0', inQuery({ type: 'string' }, v2), { q: 'a' }, 'GET /things?q=a'],
  ['a document of 3.0', inQuery({}, { openapi: '3.0.3' }), { q: 'a' }, 'GET /things?q=a'],
  ['a document of 3.2', inQuery({}, { openapi: '3.2.0' }), { q: 'a' }, 'GET /things?q=a'],
  ['a text in the path', inPath(), { id: 'a/b' }, 'GET /things/a%2Fb'],
  ['a list in the path', inPath(), { id: list }, 'GET /things/a%2Cb,c%20d'],
  ['an object in the path', inPath(), { id: point }, 'GET /things/x,1,y,%C3%A9'],
  ['an exploded object in the path', inPath({ explode: true }), { id: point }, 'GET /things/x=1,y=%C3%A9'],
  ['a path with quotes', inPath({}, { path: "/o('{id}')" }), { id: "it's" }, "GET /o('it%27s')"],
  [
    'a schema that is read-only',
    inPath({ schema: { $ref: '#/n' } }, { n: { readOnly: true } }),
    { id: 7 },
    'GET /things/7',
  ],
  ['an exploded list', inQuery(), { q: list }, 'GET /things?q=a%2Cb&q=c%20d'],
  ['a list with its commas encoded', inQuery({ explode: false }), { q: list }, 'GET /things?q=a%2Cb,c%20d'],
  ['a list with spaces', inQuery({ style: 'spaceDelimited' }), { q: [1, 2] }, 'GET /things?q=1%202'],
  ['a list with pipes', inQuery({ style: 'pipeDelimited' }), { q: list }, 'GET /things?q=a%2Cb|c%20d'],
  ['an exploded object', inQuery(), { q: point }, 'GET /things?x=1&y=%C3%A9'],
  ['an object', inQuery({ explode: false }), { q: point }, 'GET /things?q=x,1,y,%C3%A9'],
  ['deepObject', inQuery({ style: 'deepObject' }), { q: deep }, 'GET /things?q[a][b]=1&q[a][b]=2&q[c][0][d]=3'],
  ['content', inQuery(json), { q: point }, 'GET /things?q=%7B%22x%22%3A1%2C%22y%22%3A%22%C3%A9%22%7D'],
  ['collectionFormat csv', ofV2('csv'), { q: [1, 2] }, 'GET /things?q=1,2'],
  ['collectionFormat multi', ofV2('multi'), { q: [1, 2] }, 'GET /things?q=1&q=2'],
  ['collectionFormat ssv', ofV2('ssv'), { q: [1, 2] }, 'GET /things?q=1%202'],
  ['collectionFormat tsv', ofV2('tsv'), { q: [1, 2] }, 'GET /things?q=1%092'],
  ['collectionFormat pipes', ofV2('pipes'), { q: [1, 2] }, 'GET /things?q=1|2'],
  ['a name that models refuse', inQuery({ name: 'page[size]' }), { page_size: 9 }, 'GET /things?page[size]=9'],
  ['a name with $', inQuery({ name: '$filter' }), { filter: 'x' }, 'GET /things?%24filter=x'],
  ['two of one name', documentOf(twoIds, { path: '/things/{id}' }), { id: 1, query_id: 2 }, 'GET /things/1?id=2'],
  ['one called body', documentOf(bodyInQuery, { method: 'post' }), { query_body: 1, body: 2 }, 'POST /things?body=1 2'],
  ['one of the path', { ...inQuery(), paths: { '/a': inherited } }, { q: [1, 2], r: 3 }, 'GET /a?q=1,2&r=3'],
  ['references', documentOf(referring, { method: 'put', components }), { q: 1, body: {} }, 'PUT /things?q=1 {}'],
  ['a path by reference', { ...inQuery(), paths: { '/a': { $ref: '#/x' } }, x: inherited }, { q: 1 }, 'GET /a?q=1'],
  ['JSON', inBody('application/json; charset=utf-8'), { body: [1] }, 'POST /things [1]'],
  ['a type of JSON', inBody('application/vnd.a+json'), { body: { a: null } }, 'POST /things {"a":null}'],
  [
    'a list of an older draft',
    inBody('application/json', { schema: { items: [{}, {}] } }),
    { body: [1] },
    'POST /things [1]',
  ],
  ['JSON of 2.0', documentOf(bodyOfV2, { method: 'post', ...v2 }), { body: {} }, 'POST /things {}'],
  ['a form', inBody(form), { body: { a: 'b c', l: [1, 2], o: { k: 1 } } }, 'POST /things a=b+c&l=1&l=2&o={"k":1}'],
  ['a form with a style', inBody(form, styled), { body: { o: { k: 1 } } }, 'POST /things o[k]=1'],
  ['a form of 2.0', documentOf(formOfV2, { method: 'post', ...v2 }), { body: { f: [1, 2] } }, 'POST /things f=1,2'],
  ['text', inBody('text/plain'), { body: 'hello' }, 'POST /things hello'],
  ['no body of GET', documentOf({ requestBody: json }), {}, 'GET /things'],
]

/** Shows what the rows write without escapes. */
const readable = (text: string): string =>
  text.replaceAll('%5B', '[').replaceAll('%5D', ']').replaceAll('o=%7B%22k%22%3A1%7D', 'o={"k":1}')

describe('each feature of OpenAPI is sent as it describes', () => {
  test.each(rows)('%s', async (_, document, args, sent) => {
    const { requests } = await callTool(document, args)
    const lines = requests.map(async (request) => {
      const { method, url } = request
      return readable(`${method} ${url.slice(apiUrl.length)} ${await request.text()}`).trim()
    })
    expect(await Promise.all(lines)).toEqual([sent])
  })

  test('a header has its value as it is', async () => {
    const document = documentOf({ parameters: [{ name: 'X-Q', in: 'header' }] })
    const { requests } = await callTool(document, { 'X-Q': ['a', 'b'] })
    expect(requests[0]?.headers.get('x-q')).toBe('a,b')
  })

  test('a file is Base64 in the argument, and its bytes in the request', async () => {
    const schema = { properties: { name: {}, file: { type: 'string', format: 'binary' } } }
    const { requests } = await callTool(inBody('multipart/form-data', { schema }), {
      body: { name: 'n', file: 'AAH/' },
    })
    const sent = await requests[0]?.formData()
    const file = sent?.get('file')
    expect(sent?.get('name')).toBe('n')
    expect(file instanceof File ? new Uint8Array(await file.arrayBuffer()) : file).toEqual(new Uint8Array([0, 1, 255]))
  })

  test('a value that the author fixes is sent, and appears in neither arguments nor questions', async () => {
    const parameters = [
      { name: 'v', in: 'query', required: true },
      { name: 'X-Key', in: 'header', required: true },
    ]
    const options = { headers: { 'x-key': 'secret' }, query: { v: '2026' } }
    const { requests, questions } = await callTool(documentOf({ parameters }, { method: 'delete' }), {}, { options })
    expect([requests[0]?.url, requests[0]?.headers.get('x-key')]).toEqual([`${apiUrl}/things?v=2026`, 'secret'])
    expect(questions).toEqual(['DELETE /things'])
  })

  test('a value that the author fixes in the query leaves the others as they are', async () => {
    const ids = { name: 'ids', in: 'query', explode: false }
    const spaced = { name: 's', in: 'query', style: 'spaceDelimited', explode: false }
    const { requests } = await callTool(
      documentOf({ parameters: [ids, spaced] }),
      { ids: list, s: [1, 2] },
      { options: { query: { key: 'k&l', v: '1' } } },
    )
    expect(requests[0]?.url).toBe(`${apiUrl}/things?ids=a%2Cb,c%20d&s=1%202&key=k%26l&v=1`)
  })

  test('headers of the credential and the client, and keys of the document, are not arguments', async () => {
    const names = ['Authorization', 'Accept', 'Content-Type', 'Mcp-Name', 'Sec-Fetch-Site', 'X-Key']
    const parameters = names.map((name) => ({ name, in: 'header' }))
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } }
    const { text } = await callTool(documentOf({ parameters }, { components }), { 'X-Key': 'mine' })
    expect(text).toContain('Invalid arguments')
  })
})

describe('arguments that must not be sent', () => {
  test.each([
    ['an empty part of a path', inPath(), { id: '' }],
    ['an id that JSON has rounded', inPath(), { id: 9007199254740992 }],
    ['a rounded number in a body', inBody('application/json'), { body: { items: [{ id: -9007199254740992 }] } }],
    ['a segment ..', inPath(), { id: 'a/../b' }],
    ['a segment . between backslashes', inPath(), { id: String.raw`a\.\b` }],
    ['an encoded segment', inPath(), { id: '%2e%2E%2Fadmin' }],
    ['a space between spaces', inQuery({ style: 'spaceDelimited' }), { q: ['a b'] }],
    ['a line break in a header', documentOf({ parameters: [{ name: 'q', in: 'header' }] }), { q: 'a\nb' }],
    [
      'a character that is not ASCII in a header',
      documentOf({ parameters: [{ name: 'q', in: 'header' }] }),
      { q: 'é' },
    ],
    [
      'a file that is not Base64',
      inBody('multipart/form-data', { schema: { properties: { f: { format: 'binary' } } } }),
      { body: { f: '*' } },
    ],
  ])('%s', async (_, document, args) => {
    const { requests, isError, text } = await callTool(document, args)
    expect([requests.length, isError]).toEqual([0, true])
    expect(text).toMatch(/must/)
  })
})
