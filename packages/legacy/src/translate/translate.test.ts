import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { legacyRevisions } from './revisions.ts'
import { toClientCapabilities, toLegacyImplementation } from './capabilities.ts'
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

  test('structured content that is no object is left to its text block, and so is its schema [LEG-064]', () => {
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

  test.each([
    [{ elicitation: {} }, '2025-11-25', { elicitation: { form: {} } }],
    [{ elicitation: { url: {} } }, '2025-11-25', { elicitation: { url: {} } }],
    [{ elicitation: { form: {}, url: {} } }, '2025-06-18', { elicitation: { form: {} } }],
    [{ elicitation: {} }, '2025-03-26', {}],
    [{ roots: { listChanged: true }, tasks: {} }, '2025-11-25', { roots: {} }],
    [{ sampling: { tools: {} } }, '2025-11-25', { sampling: { tools: {} } }],
    [{ sampling: { tools: {} } }, '2025-06-18', { sampling: {} }],
    [{ experimental: { a: {}, b: 1 } }, '2025-11-25', { experimental: { a: {} } }],
  ] as const)('capabilities %o of %s are %o [LEG-014 LEG-067 LEG-076]', (given, revision, made) => {
    expect(toClientCapabilities(given, revision)).toEqual(made)
  })

  test('any capabilities become well-formed ones', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(...legacyRevisions),
        (given, revision) => {
          const made = toClientCapabilities(given as JsonObject, revision)
          for (const value of Object.values(made)) expect(value).toBeTypeOf('object')
          expect(
            Object.keys(made).every((key) => ['elicitation', 'sampling', 'roots', 'experimental'].includes(key)),
          ).toBe(true)
        },
      ),
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
  ])('%o of %s becomes %o [LEG-013 LEG-062]', (error, method, made) => {
    expect(toLegacyFailure(error, method)).toMatchObject(made)
  })
})

describe('questions', () => {
  const url = { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://a' } } as const

  test('a URL cannot be asked before 2025-11-25', () => {
    expect(toLegacyInputRequest(url, '2025-11-25', 'e1')).toMatchObject({
      request: { params: { elicitationId: 'e1' } },
    })
    expect(toLegacyInputRequest(url, '2025-06-18', 'e1')).toEqual({ missingCapabilities: { elicitation: { url: {} } } })
  })

  test('a message of several blocks is several messages before 2025-11-25', () => {
    const [a, b] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ] as const
    const params = { messages: [{ role: 'user', content: [a, b] }], maxTokens: 1 } as const
    const request = { method: 'sampling/createMessage', params } as const
    expect(toLegacyInputRequest(request, '2025-11-25', '')).toEqual({ request })
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
