import type { JsonObject } from '@x/core'
import { describe, expect, test } from 'vitest'
import { describeOpenApi, openApiTools } from './index.ts'
import { apiUrl, documentOf } from './testing/api-kit.ts'

const parameter = (members: JsonObject, root: JsonObject = {}): JsonObject =>
  documentOf({ parameters: [{ name: 'q', in: 'query', ...members }] }, root)
const withBody = (type: string, method = 'post'): JsonObject =>
  documentOf({ requestBody: { required: true, content: { [type]: {} } } }, { method })
const withSchema = (schema: JsonObject): JsonObject =>
  documentOf({ requestBody: { content: { 'application/json': { schema } } } }, { method: 'post' })
const inPath = { in: 'path', name: 'id' }
const byId = { path: '/things/{id}' }
const circle = { components: { parameters: { q: { $ref: '#/components/parameters/q' } } } }
const toCircle = { parameters: [{ $ref: '#/components/parameters/q' }] }
const servers = 'has servers of its own, and every request goes to the address of the option url'

/** One row for each feature that no tool can have, with its reason. */
const rows: readonly (readonly [feature: string, document: JsonObject, reason: string])[] = [
  [
    'another file',
    withSchema({ $ref: 'a.yaml' }),
    'its reference "a.yaml" leaves the document; bundle the document first',
  ],
  [
    'an address',
    withSchema({ $ref: 'https://a.example' }),
    'its reference "https://a.example" leaves the document; bundle the document first',
  ],
  [
    'a reference to nothing',
    documentOf(toCircle),
    'its reference "#/components/parameters/q" names nothing in the document',
  ],
  ['a circle', documentOf(toCircle, circle), 'has references that form a cycle'],
  ['the style label', parameter({ ...inPath, style: 'label' }, byId), 'the parameter "id" has the style label'],
  ['the style matrix', parameter({ ...inPath, style: 'matrix' }, byId), 'the parameter "id" has the style matrix'],
  ['a required cookie', parameter({ in: 'cookie', required: true }), 'requires the cookie "q"'],
  [
    'a required header whose name no header can have',
    parameter({ in: 'header', name: 'X Y', required: true }),
    'requires the header "X Y"',
  ],
  ['a required Host', parameter({ in: 'header', name: 'Host', required: true }), 'requires the header "Host"'],
  ['another place', parameter({ in: 'querystring' }), 'the parameter "q" is in "querystring"'],
  ['a body of bytes', withBody('application/octet-stream'), 'its body has the type application/octet-stream'],
  ['a body of XML', withBody('application/xml'), 'its body has the type application/xml'],
  ['a body of GET', withBody('application/json', 'get'), 'requires a body, and a GET request has none'],
  ['servers', documentOf({ servers: [{ url: 'https://evil.example' }] }), servers],
  ['OPTIONS', documentOf({}, { method: 'options' }), 'has the method OPTIONS'],
  ['TRACE', documentOf({}, { method: 'trace' }), 'has the method TRACE'],
  ['CONNECT', documentOf({}, { method: 'connect' }), 'has the method CONNECT'],
  [
    'a path that climbs',
    documentOf({}, { path: '/../a' }),
    'its path has a segment "." or "..", or one of "#", "?" and "\\"',
  ],
  ['a path without its parameter', documentOf({}, byId), 'its path has {id}, and no parameter of this name'],
  [
    'a malformed schema',
    withSchema({ minLength: 'x' }),
    'its schema cannot be used: its minLength must be a whole number (at /properties/body)',
  ],
  ['a deprecated operation', documentOf({ deprecated: true }), 'is deprecated'],
]

describe('operations that are no tools', () => {
  test.each(rows)('%s', (_, document, reason) => {
    expect(describeOpenApi(document)).toMatchObject([{ refused: reason }])
  })

  test('one of them leaves the others, and is logged', () => {
    const logged: string[] = []
    const document = { openapi: '3.1.0', paths: { '/a': { get: { parameters: [7] } }, '/b': { get: {} } } }
    const tools = openApiTools(document, { url: apiUrl, log: ({ message }) => logged.push(message) })
    expect(tools.map(({ name }) => name)).toEqual(['get_b'])
    expect(logged).toEqual(['Operations that are not tools: GET /a has a part that is not an object'])
  })

  test.each([
    ['a missing operation', ['act', 'other'], 'operations has "other", and the document has no such operation'],
    ['an operation that cannot be a tool', ['act'], `GET /things cannot be a tool: ${servers}`],
  ])('%s that is listed by name is an error', (_, operations, message) => {
    const document = documentOf({ servers: [{ url: '/v3' }] })
    expect(() => openApiTools(document, { url: apiUrl, operations })).toThrow(message)
  })

  test.each([
    ['no document', {}, {}, 'The document is neither OpenAPI 3.0 to 3.2 nor Swagger 2.0'],
    ['a later version', { openapi: '4.0.0' }, {}, 'The document is neither OpenAPI 3.0 to 3.2 nor Swagger 2.0'],
    ['an address over http', documentOf({}), { url: 'http://api.example.com' }, 'url must be the address of the API'],
    ['an address with a query', documentOf({}), { url: `${apiUrl}?key=1` }, 'url must be the address of the API'],
    ['an unknown option', documentOf({}), { baseUrl: apiUrl }, 'openApiTools has no option `baseUrl`'],
    ['a wrong word', documentOf({}), Object({ withoutForms: 'nope' }), "withoutForms must be 'refuse' or 'call'"],
    ['a name of a header', documentOf({}), { idempotencyHeader: 'Idempotency Key' }, 'has "Idempotency Key", which'],
    ['a header of two lines', documentOf({}), { headers: { 'x-key': 'a\nb' } }, 'headers has "x-key", which cannot'],
    ['a header with a quote of a text processor', documentOf({}), { headers: { 'x-key': '“a' } }, 'up to U+00FF'],
    ['a limit of 0', documentOf({}), { timeoutMs: 0 }, 'timeoutMs is 0'],
  ])('%s throws', (_, document, options, message) => {
    expect(() => openApiTools(document, { url: apiUrl, ...options })).toThrow(message)
  })
})

describe('members that only the API writes are no arguments, and required nowhere', () => {
  const hidden = { properties: { id: { readOnly: true }, name: {} } }
  const visible = { properties: { name: {} } }
  const both = { required: ['id', 'name'] }
  const name = { required: ['name'] }
  const base = { $ref: '#/components/schemas/Base' }
  const rules = { $ref: '#/components/schemas/Rules' }
  const components = { schemas: { Base: hidden, Rules: both } }
  test.each<[string, JsonObject, JsonObject]>([
    ['by reference', base, visible],
    ['beside the members', { ...hidden, ...both }, { ...visible, ...name }],
    ['in another part', { allOf: [base, both] }, { allOf: [visible, name] }],
    ['beside the parts', { allOf: [base], ...both }, { allOf: [visible], ...name }],
    ['beside a reference', { ...base, ...both }, { allOf: [visible], ...name }],
    ['by another reference', { allOf: [base, rules] }, { allOf: [visible, { allOf: [name] }] }],
    ['in an alternative', { ...hidden, anyOf: [both, name] }, { ...visible, anyOf: [name, name] }],
    [
      'by another member',
      { ...hidden, dependentRequired: { name: ['id'], id: ['name'] } },
      { ...visible, dependentRequired: { name: [] } },
    ],
    ['but of another object', { ...hidden, additionalProperties: both }, { ...visible, additionalProperties: both }],
  ])('%s', (_, schema, converted) => {
    const document = { ...withSchema(schema), components }
    const [tool] = openApiTools(document, { url: apiUrl })
    expect(Object(tool?.definition.input).properties.body).toEqual(converted)
  })

  test('a definition keeps its rules for those who hide nothing', () => {
    const properties = { a: { allOf: [base, rules] }, b: rules }
    const [tool] = openApiTools({ ...withSchema({ properties }), components }, { url: apiUrl })
    const { a, b } = Object(tool?.definition.input).properties.body.properties
    expect([a, b]).toEqual([{ allOf: [visible, { allOf: [name] }] }, both])
  })
})

describe('the tools of a document', () => {
  test('a long name, and two equal ones, get a digest of their own operation', () => {
    const long = 'a'.repeat(60)
    const paths = {
      '/a': { get: { operationId: long }, put: { operationId: 'same' }, post: {} },
      '/b/{id}': { get: { operationId: 'same', parameters: [{ name: 'id', in: 'path' }] } },
    }
    const names = openApiTools({ openapi: '3.0.0', paths }, { url: apiUrl }).map(({ name }) => name)
    expect(names).toEqual([
      expect.stringMatching(/^a{43}_[0-9a-f]{6}$/),
      expect.stringMatching(/^same_[0-9a-f]{6}$/),
      'post_a',
      expect.stringMatching(/^same_[0-9a-f]{6}$/),
    ])
    expect(new Set(names).size).toBe(4)
  })

  test('hints say what the method promises', () => {
    const methods = ['get', 'head', 'post', 'put', 'patch', 'delete']
    const paths = { '/a': Object.fromEntries(methods.map((method) => [method, {}])) }
    const tools = openApiTools({ openapi: '3.0.0', paths }, { url: apiUrl })
    expect(Object.fromEntries(tools.map(({ name, definition }) => [name, definition.annotations]))).toEqual({
      get_a: { readOnlyHint: true },
      head_a: { readOnlyHint: true },
      post_a: {},
      put_a: { idempotentHint: true, destructiveHint: true },
      patch_a: { destructiveHint: true },
      delete_a: { idempotentHint: true, destructiveHint: true },
    })
  })

  test('texts of a document are visible, short, and without addresses', () => {
    const summary = `Get\u200B it\u202E ${'x'.repeat(200)}`
    const description = 'See [the manual](https://evil.example/?q=1).\n\nIgnore\u{E0041} this.'
    const [tool] = openApiTools(documentOf({ summary, description }), { url: apiUrl })
    expect(tool?.definition.title).toBe(`Get it ${'x'.repeat(92)}…`)
    expect(tool?.definition.description).toMatch(/…\n\nSee the manual\.\nIgnore this\.$/)
  })

  test('a listing names the tool, its size, what was cut, whether it asks, and what hosts refuse', () => {
    const properties = { 'a b': { type: 'string', description: 'x'.repeat(200) } }
    const schema = { type: 'object', properties: { o: { type: 'object', properties } } }
    const requestBody = { content: { 'application/json': { schema } } }
    const document = documentOf({ requestBody, security: [{ oauth: ['write'] }] }, { method: 'delete' })
    const [planned] = describeOpenApi(document, { maxSchemaCharacters: 300 })
    expect(planned).toMatchObject({ name: 'act', cut: 'descriptions', asks: true, security: ['oauth write'] })
    expect(planned).toMatchObject({ size: expect.any(Number), warnings: [expect.stringContaining('"body.o.a b"')] })
  })
})
