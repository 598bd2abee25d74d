import { errorCodes, metaKeys } from '@x/schema'
import { randomKey, sealedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createServer,
  resource,
  type ResourceDefinition,
  resourceNotFoundError,
  type ResourceReturn,
  resourceTemplate,
  type ServerOffers,
} from '../index.ts'
import { createLogCollector, errorOf, invalidParams, resultOf } from '../testing/ask.ts'

const { reported, log } = createLogCollector()
const serve = (offers: ServerOffers) => createServer({ name: 'demo', version: '1.0.0', log, ...offers })
const uri = 'test://a'
const alice = { principal: { subject: 'alice' } }
const isAlice = (principal: { subject: string } | undefined) => principal?.subject === 'alice'

describe('the result of a resource', () => {
  const bytes = new Uint8Array([0, 1, 250, 251, 252])
  const cases: [string, ResourceReturn, object[]][] = [
    ['text', 'hello', [{ uri, mimeType: 'text/plain', text: 'hello' }]],
    ['empty text', '', [{ uri, mimeType: 'text/plain', text: '' }]],
    ['bytes', bytes, [{ uri, mimeType: 'text/plain', blob: 'AAH6+/w=' }]],
    ['bytes of a larger buffer', new Uint8Array(bytes.buffer, 2, 2), [{ uri, mimeType: 'text/plain', blob: '+vs=' }]],
    ['no bytes', new Uint8Array(), [{ uri, mimeType: 'text/plain', blob: '' }]],
    ['one part', { text: 'x', mimeType: 'text/html' }, [{ uri, mimeType: 'text/html', text: 'x' }]],
    ['Base64', { blob: 'AA==' }, [{ uri, mimeType: 'text/plain', blob: 'AA==' }]],
    [
      'several parts',
      [
        { uri: 'test://a/1', text: '1' },
        { uri: 'test://a/2', blob: bytes, _meta: { 'com.example/a': 1 } },
      ],
      [
        { uri: 'test://a/1', mimeType: 'text/plain', text: '1' },
        { uri: 'test://a/2', mimeType: 'text/plain', blob: 'AAH6+/w=', _meta: { 'com.example/a': 1 } },
      ],
    ],
    ['contents', { contents: [{ text: 'x' }] }, [{ uri, mimeType: 'text/plain', text: 'x' }]],
  ]

  test.each(cases)('%s becomes contents', async (_, returned, contents) => {
    for (const read of [() => returned, async () => returned]) {
      const server = serve({ resources: [resource(uri, { name: 'a', mimeType: 'text/plain', read })] })
      expect(await resultOf(server, 'resources/read', { uri })).toMatchObject({ resultType: 'complete', contents })
    }
  })

  test('a megabyte of bytes is encoded like a few', async () => {
    const large = new Uint8Array(1_000_003).map((_, index) => index % 256)
    const server = serve({ resources: [resource(uri, { name: 'a', read: () => large })] })
    const result = await resultOf(server, 'resources/read', { uri })
    expect(result).toMatchObject({ contents: [{ uri, blob: Buffer.from(large).toString('base64') }] })
  })

  test.each([[[]], [{ contents: [] }], [{ uri }], [[{}]]] as ResourceReturn[][])(
    '%j, which says nothing, is an internal error and never empty contents',
    async (returned) => {
      const before = reported.length
      const server = serve({ resources: [resource(uri, { name: 'a', read: () => returned })] })
      expect(await errorOf(server, 'resources/read', { uri })).toEqual({
        code: errorCodes.internal,
        message: 'Internal error',
      })
      expect(reported).toHaveLength(before + 1)
    },
  )
})

describe('reading', () => {
  const server = serve({
    resources: [resource('test://item/static', { name: 'static', read: () => 'static' })],
    resourceTemplates: [
      resourceTemplate('test://item/{id}', {
        name: 'item',
        mimeType: 'application/json',
        read({ id }) {
          if (id === 'gone') throw resourceNotFoundError(`test://item/${id}`)
          return JSON.stringify({ id })
        },
      }),
      resourceTemplate('test://{+rest}', { name: 'rest', read: async ({ rest }) => `rest ${rest}` }),
    ],
  })

  test.each([
    ['test://item/static', { text: 'static' }],
    ['test://item/7', { uri: 'test://item/7', mimeType: 'application/json', text: '{"id":"7"}' }],
    ['test://item/a%20b', { uri: 'test://item/a%20b', text: '{"id":"a b"}' }],
    ['test://item/7/more', { text: 'rest item/7/more' }],
  ])('%s is found by its URI, or by the first template that it fits', async (uri, content) => {
    expect(await resultOf(server, 'resources/read', { uri })).toMatchObject({ contents: [content] })
  })

  test.each([
    'test://item/gone',
    'other://a',
    '',
    'test://',
    'test://a/../b',
    '__proto__',
    `test://${'a'.repeat(100_000)}`,
  ])('%s is not found, by that name [BAS-020]', async (uri) => {
    const error = await errorOf(server, 'resources/read', { uri })
    expect(error).toEqual({ code: invalidParams, message: 'Resource not found', data: { uri } })
  })

  test('a URI is required', async () => {
    expect(await errorOf(server, 'resources/read', {})).toMatchObject({
      code: invalidParams,
      message: expect.stringContaining('uri'),
    })
  })
})

test('resources and templates are listed with all that their definitions say', async () => {
  const description = { title: 'A', description: 'The a', mimeType: 'text/plain', annotations: { priority: 1 } }
  const icons = [{ src: 'https://example.com/a.png' }]
  const more = { icons, meta: { 'com.example/a': 1 }, read: () => '' }
  const wire = { name: 'a', ...description, icons, _meta: { 'com.example/a': 1 } }
  const server = serve({
    resources: [resource(uri, { name: 'a', ...description, size: 3, ...more })],
    resourceTemplates: [resourceTemplate('test://{id}', { name: 'a', ...description, ...more })],
  })
  expect(await resultOf(server, 'resources/list')).toMatchObject({ resources: [{ uri, ...wire, size: 3 }] })
  expect(await resultOf(server, 'resources/templates/list')).toMatchObject({
    resourceTemplates: [{ uriTemplate: 'test://{id}', ...wire }],
  })
})

describe('caching', () => {
  const read = () => ''
  const cases: [string, Partial<ResourceDefinition>, object][] = [
    ['nothing', {}, { ttlMs: 0, cacheScope: 'private' }],
    ['how long', { cache: { ttlMs: 5000 } }, { ttlMs: 5000, cacheScope: 'private' }],
    ['how long and by whom', { cache: { ttlMs: 5000, scope: 'public' } }, { ttlMs: 5000, cacheScope: 'public' }],
    [
      'something else for this reading',
      { cache: { ttlMs: 5000 }, read: () => ({ contents: [{ text: '' }], ttlMs: 7, cacheScope: 'public' }) },
      { ttlMs: 7, cacheScope: 'public' },
    ],
    [
      'that it is hidden from some, and public for this reading',
      { visibleTo: () => true, read: () => ({ contents: [{ text: '' }], cacheScope: 'public' }) },
      { cacheScope: 'private' },
    ],
  ]

  test.each(cases)('a definition that says %s [CCH-006 CCH-014 CCH-015]', async (_, given, expected) => {
    const server = serve({ resources: [resource(uri, { name: 'a', read, ...given })] })
    expect(await resultOf(server, 'resources/read', { uri })).toMatchObject(expected)
  })
})

test('a reading that asks has no caching hints, and its complete result has them [CCH-007]', async () => {
  const asking = resource(uri, {
    name: 'a',
    cache: { ttlMs: 5000, scope: 'public' },
    read: async (ctx) => {
      const { who } = await ctx.elicit('who', { message: 'Who?', schema: z.object({ who: z.string() }) })
      return who
    },
  })
  const state = sealedState({ keys: [randomKey()] })
  const server = createServer({ name: 'demo', version: '1.0.0', log, resources: [asking], state })
  const meta = { [metaKeys.clientCapabilities]: { elicitation: { form: {} } } }
  const asked = await resultOf(server, 'resources/read', { uri }, { meta })
  expect(asked).toMatchObject({ resultType: 'input_required' })
  expect(asked).not.toHaveProperty('ttlMs')
  expect(asked).not.toHaveProperty('cacheScope')
  const inputResponses = { who: { action: 'accept', content: { who: 'Ada' } } }
  const retry = { uri, inputResponses, requestState: asked['requestState'] ?? '' }
  expect(await resultOf(server, 'resources/read', retry, { meta })).toMatchObject({ ttlMs: 5000 })
})

test('a hidden resource is not found, not listed, and leaves no trace [CCH-026 CCH-027]', async () => {
  const server = serve({
    resources: [resource(uri, { name: 'a', visibleTo: isAlice, read: () => 'secret' })],
    resourceTemplates: [resourceTemplate('test://t/{id}', { name: 't', visibleTo: isAlice, read: () => 'secret' })],
  })
  for (const hidden of [uri, 'test://t/1']) {
    expect(await errorOf(server, 'resources/read', { uri: hidden })).toEqual({
      code: invalidParams,
      message: 'Resource not found',
      data: { uri: hidden },
    })
    expect(await resultOf(server, 'resources/read', { uri: hidden }, alice)).toMatchObject({
      contents: [{ text: 'secret' }],
    })
  }
  expect(await resultOf(server, 'resources/list')).toMatchObject({ resources: [], cacheScope: 'private' })
  expect(await resultOf(server, 'resources/templates/list')).toMatchObject({
    resourceTemplates: [],
    cacheScope: 'private',
  })
  expect(await resultOf(server, 'resources/list', {}, alice)).toMatchObject({ resources: [{ uri }] })
})

test.each([uri, 'test://t/1'])('%s may require a capability [BAS-057]', async (required) => {
  const requires = { sampling: {} }
  const server = serve({
    resources: [resource(uri, { name: 'a', requires, read: () => '' })],
    resourceTemplates: [resourceTemplate('test://t/{id}', { name: 't', requires, read: () => '' })],
  })
  expect(await errorOf(server, 'resources/read', { uri: required })).toMatchObject({
    data: { requiredCapabilities: requires },
  })
})
