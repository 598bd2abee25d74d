import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { pickShared, toClientCapabilities, toLegacyImplementation } from './capabilities.ts'
import { toLegacyFailure } from './error.ts'
import { toLegacyInputRequest } from './input-request.ts'
import { toModernRequest } from './request.ts'
import { toLegacyResult } from './result.ts'

const link = { type: 'resource_link', uri: 'file:///a', name: 'a', title: 'A', icons: [{ src: 'data:,' }] }
const result = {
  resultType: 'complete',
  content: [{ type: 'text', text: '{}' }, link],
  structuredContent: { a: 1 },
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's', version: '1' }, 'example.com/kept': true },
}

describe('results', () => {
  test('2025-11-25 has links with icons and structured content that is an object [LEG-013 LEG-065]', () => {
    expect(toLegacyResult(result, 'tools/call', '2025-11-25')).toEqual({
      content: [{ type: 'text', text: '{}' }, link],
      structuredContent: { a: 1 },
      _meta: { 'example.com/kept': true },
    })
  })

  test('2025-03-26 has neither, so a link is a text with its URI [LEG-098]', () => {
    const { content, structuredContent } = toLegacyResult(result, 'tools/call', '2025-03-26')
    expect(content).toEqual([
      { type: 'text', text: '{}' },
      { type: 'text', text: 'a\nfile:///a' },
    ])
    expect(structuredContent).toBeUndefined()
  })

  test('structured content that is not an object becomes its text block, and its schema is left out [LEG-064]', () => {
    const listed = { tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } }] }
    expect(toLegacyResult({ structuredContent: [1], content: [] }, 'tools/call', '2025-11-25')).toEqual({ content: [] })
    expect(toLegacyResult(listed, 'tools/list', '2025-11-25')).toEqual({
      tools: [{ name: 't', inputSchema: { type: 'object' } }],
    })
  })

  test('an output whose root refers to an object is listed as that object', () => {
    const $defs = { A: { type: 'object', properties: {} } }
    const listed = {
      tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema: { $ref: '#/$defs/A', $defs } }],
    }
    expect(toLegacyResult(listed, 'tools/list', '2025-06-18')).toMatchObject({
      tools: [{ outputSchema: { type: 'object', properties: {}, $defs } }],
    })
  })

  test('lists lose members that a revision does not have, and caching hints', () => {
    const tool = {
      name: 't',
      title: 'T',
      icons: [{ src: 'data:,' }],
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object' },
      annotations: { title: 'Shown' },
    }
    const list = { resultType: 'complete', tools: [tool], ttlMs: 1, cacheScope: 'public', nextCursor: 'c' }
    const { icons: _icons, ...of2025June } = tool
    const { title: _title, outputSchema: _schema, ...of2025March } = of2025June
    expect(toLegacyResult(list, 'tools/list', '2025-11-25')).toEqual({ tools: [tool], nextCursor: 'c' })
    expect(toLegacyResult(list, 'tools/list', '2025-06-18')).toEqual({ tools: [of2025June], nextCursor: 'c' })
    expect(toLegacyResult(list, 'tools/list', '2025-03-26')).toEqual({ tools: [of2025March], nextCursor: 'c' })
  })

  test('a list that is made once is translated once for each revision', () => {
    const list = Object.freeze({ tools: [], ttlMs: 1 })
    const first = toLegacyResult(list, 'tools/list', '2025-11-25')
    expect(toLegacyResult(list, 'tools/list', '2025-11-25')).toBe(first)
    expect(toLegacyResult(list, 'tools/list', '2025-06-18')).not.toBe(first)
  })
})

describe('requests', () => {
  const client = { revision: '2025-11-25', info: undefined, capabilities: {} } as const

  test('values of a client in reserved keys, state and tasks are not passed on', () => {
    const params = {
      name: 't',
      requestState: 'stolen',
      inputResponses: {},
      task: {},
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01', progressToken: 7, 'a.b/c': 1 },
    }
    const { params: made } = toModernRequest({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, client, 'info')
    expect(made).toEqual({
      name: 't',
      _meta: {
        progressToken: 7,
        'a.b/c': 1,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/logLevel': 'info',
      },
    })
  })

  const tasks = { 'io.modelcontextprotocol/tasks': {} }
  test.each([
    [{ elicitation: {} }, { elicitation: { form: {} } }],
    [{ elicitation: { other: {} } }, { elicitation: { form: {} } }],
    [{ elicitation: { url: {} } }, { elicitation: { url: {} } }],
    [{ elicitation: { form: {}, url: {} } }, { elicitation: { form: {}, url: {} } }],
    [{ roots: { listChanged: true }, tasks: {} }, { roots: {} }],
    [{ sampling: { tools: {}, other: {} } }, { sampling: { tools: {} } }],
    [{ experimental: { a: {}, b: 1 } }, { experimental: { a: {} } }],
    [{ extensions: { 'a.b/c': { d: 1 }, ...tasks } }, { extensions: { 'a.b/c': { d: 1 } } }],
  ] as const)(
    'declared capabilities %o count as %o in every revision [LEG-014 LEG-067 LEG-076 ROB-006]',
    (given, made) => {
      expect(toClientCapabilities(given)).toEqual(made)
      expect(toClientCapabilities(toClientCapabilities(given))).toEqual(made)
    },
  )

  test('this side declares to a peer what the peer may use: never tasks, and nothing of its own [LEG-014 ROB-007]', () => {
    const declared = { tools: { listChanged: true }, sessions: {}, tasks: {}, extensions: { ...tasks, 'a.b/c': {} } }
    expect(pickShared(declared)).toEqual({ tools: { listChanged: true }, sessions: {}, extensions: { 'a.b/c': {} } })
    expect(pickShared({ logging: {} })).toEqual({ logging: {} })
    expect(pickShared({ tools: 1, extensions: { 'a.b/c': 1 } } as JsonObject)).toEqual({ extensions: {} })
  })

  test('any capabilities become well-formed ones', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (given) => {
        const made = toClientCapabilities(given as JsonObject)
        for (const value of Object.values(made)) expect(value).toBeTypeOf('object')
        const known = ['elicitation', 'sampling', 'roots', 'experimental', 'extensions']
        expect(Object.keys(made).every((key) => known.includes(key))).toBe(true)
      }),
    )
  })

  test('implementations have the fields of their revision', () => {
    const info = { name: 's', version: '1', title: 'S', description: 'd', icons: [], websiteUrl: 'https://a' }
    expect(toLegacyImplementation(info, '2025-11-25')).toEqual(info)
    expect(toLegacyImplementation(info, '2025-06-18')).toEqual({ name: 's', version: '1', title: 'S' })
    expect(toLegacyImplementation(info, '2025-03-26')).toEqual({ name: 's', version: '1' })
  })
})

describe('errors', () => {
  test.each([
    [{ code: -32602, message: 'm', data: { uri: 'a:b' } }, 'resources/read', { error: { code: -32002 } }],
    [{ code: -32602, message: 'm' }, 'resources/read', { error: { code: -32602 } }],
    [{ code: -32020, message: 'm' }, 'tools/list', { error: { code: -32602 } }],
    [{ code: -32022, message: 'm' }, 'tools/list', { error: { code: -32602 } }],
    [{ code: 17, message: 'm', data: 1 }, 'tools/call', { error: { code: 17, data: 1 } }],
    [
      { code: -32021, message: 'm', data: { requiredCapabilities: { sampling: {} } } },
      'prompts/get',
      { error: { code: -32602, message: 'This needs the client capability sampling' } },
    ],
    [
      { code: -32021, message: 'm', data: { requiredCapabilities: { extensions: { 'a.b/c': {} } } } },
      'tools/call',
      { result: { isError: true, content: [{ text: expect.stringContaining('extensions.a.b/c') }] } },
    ],
    [
      {
        code: -32021,
        message: 'm',
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
      'tools/call',
      {
        result: {
          isError: true,
          content: [{ text: 'This needs a client of revision 2026-07-28, because it only runs as a task' }],
        },
      },
    ],
  ])('%o of %s becomes %o [LEG-013 LEG-062 ROB-007]', (error, method, made) => {
    expect(toLegacyFailure(error, method)).toMatchObject(made)
  })
})

describe('questions', () => {
  const url = { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://a' } } as const

  test.each(['2025-11-25', '2025-06-18'] as const)('a URL is asked at %s with its id [LEG-068]', (revision) => {
    expect(toLegacyInputRequest(url, revision, 'e1')).toEqual({
      request: { method: url.method, params: { ...url.params, elicitationId: 'e1' } },
    })
  })

  const choice = { oneOf: [{ const: 'a', title: 'A' }], type: 'string', default: 'a' } as const
  const choices = { type: 'array', items: { type: 'string', enum: ['a'] } } as const
  const askFor = (fields: object) => ({
    method: 'elicitation/create' as const,
    params: { message: 'm', requestedSchema: { type: 'object', properties: fields } as never },
  })

  test('a form says its mode since modes exist, and has the features of the revision [LEG-013 LEG-096]', () => {
    expect(toLegacyInputRequest(askFor({ one: choice, many: choices }), '2025-11-25', '')).toMatchObject({
      request: { params: { mode: 'form', requestedSchema: { properties: { one: choice, many: choices } } } },
    })
    const older = toLegacyInputRequest(askFor({ one: choice }), '2025-06-18', '')
    const plainChoice = { type: 'string', enum: ['a'], enumNames: ['A'] }
    const requestedSchema = { type: 'object', properties: { one: plainChoice } }
    expect(older).toEqual({ request: { method: 'elicitation/create', params: { message: 'm', requestedSchema } } })
    expect(toLegacyInputRequest(askFor({ one: choice, many: choices }), '2025-06-18', '')).toEqual({
      unsupported: 'a form whose field "many" takes several values',
    })
  })

  test('a message of several blocks is several messages before 2025-11-25, except with tools [ROB-006]', () => {
    const [a, b] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ] as const
    const params = { messages: [{ role: 'user', content: [a, b] }], maxTokens: 1 } as const
    const request = { method: 'sampling/createMessage', params } as const
    expect(toLegacyInputRequest(request, '2025-11-25', '')).toEqual({ request })
    const withTools = { ...request, params: { ...params, tools: [] } }
    expect(toLegacyInputRequest(withTools, '2025-06-18', '')).toEqual({ request: withTools })
    expect(toLegacyInputRequest(request, '2025-06-18', '')).toMatchObject({
      request: {
        params: {
          messages: [
            { role: 'user', content: a },
            { role: 'user', content: b },
          ],
        },
      },
    })
  })
})
