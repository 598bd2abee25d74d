import type { ExtensionResourcePage, ExtensionResources, ServerExtension } from '@x/exchange'
import type { Resource } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createServer, DefinitionError, resource, resourceTemplate } from '../index.ts'
import { errorOf, invalidParams, pagesOf, resultOf } from '../testing/ask.ts'

const about = { name: 'demo', version: '1.0.0' }
const caching = { ttlMs: 60_000, cacheScope: 'public' } as const
const listed = (uri: string): Resource => ({ uri, name: uri })

/** An extension with these resources. */
function serving(name: string, resources: ExtensionResources): ServerExtension {
  return {
    extends: 'server',
    name,
    identifier: `com.example/${name}`,
    servesResources: true,
    start: () => ({ resources }),
  }
}

/** Resources with these URIs, of which a page has two. */
function textsOf(...uris: readonly string[]): ExtensionResources {
  return {
    list: (_call, cursor): ExtensionResourcePage => {
      const start = Number(cursor ?? 0)
      const nextCursor = start + 2 < uris.length ? String(start + 2) : undefined
      return { resources: uris.slice(start, start + 2).map(listed), nextCursor, ...caching }
    },
    has: (uri) => uris.includes(uri),
    read: (uri) =>
      uris.includes(uri)
        ? { resultType: 'complete', contents: [{ uri, text: `Text of ${uri}` }], ...caching }
        : undefined,
  }
}

const fixed = resource('x://fixed', { name: 'fixed', read: () => 'of the definition' })
const template = resourceTemplate('x://t/{id}', {
  name: 'template',
  list: () => [listed('x://t/1')],
  read: ({ id }) => `of the template: ${id}`,
})

describe('resources of extensions', () => {
  const extensions = [serving('one', textsOf('a://1', 'a://2', 'a://3')), serving('two', textsOf('b://1', 'x://fixed'))]
  const server = createServer({ ...about, resources: [fixed], resourceTemplates: [template], extensions })

  test('are listed after those of the definitions, in the order of the extensions', async () => {
    const { resources } = await resultOf(server, 'resources/list')
    const uris = ['x://fixed', 'x://t/1', 'a://1', 'a://2', 'a://3', 'b://1', 'x://fixed']
    expect(resources).toEqual(uris.map((uri) => expect.objectContaining({ uri })))
  })

  test('continue on further pages', async () => {
    const uris = Array.from({ length: 45 }, (_, index) => `a://${index}`)
    const large = createServer({ ...about, extensions: [serving('one', textsOf(...uris))] })
    const pages = await pagesOf(large, 'resources/list')
    expect(pages.flatMap(({ resources }) => resources)).toEqual(uris.map((uri) => expect.objectContaining({ uri })))
    expect(pages.length).toBeGreaterThan(1)
  })

  test('are read where no definition has the URI, with the name of the server', async () => {
    expect(await resultOf(server, 'resources/read', { uri: 'a://2' })).toMatchObject({
      contents: [{ uri: 'a://2', text: 'Text of a://2' }],
      ...caching,
      _meta: { 'io.modelcontextprotocol/serverInfo': about },
    })
    expect(await resultOf(server, 'resources/read', { uri: 'x://fixed' })).toMatchObject({
      contents: [{ text: 'of the definition' }],
    })
  })

  test('are unknown to other URIs', async () => {
    const error = await errorOf(server, 'resources/read', { uri: 'a://4' })
    expect(error).toMatchObject({ code: invalidParams, message: 'Resource not found' })
  })

  test('are resources for a client, also where the server has none of its own', async () => {
    const only = createServer({ ...about, extensions: [serving('one', textsOf('a://1'))] })
    expect(await resultOf(only, 'server/discover')).toMatchObject({
      capabilities: { resources: { listChanged: true, subscribe: true } },
    })
  })

  test('end a page when an extension fails, and fail the next one', async () => {
    const failing: ExtensionResources = {
      ...textsOf('a://1'),
      list: () => {
        throw new Error('the disk is full')
      },
    }
    const broken = createServer({
      ...about,
      log: () => {},
      resources: [fixed],
      extensions: [serving('one', failing)],
    })
    const page = await resultOf(broken, 'resources/list')
    expect(page).toMatchObject({ resources: [{ uri: 'x://fixed' }] })
    const error = await errorOf(broken, 'resources/list', { cursor: page['nextCursor'] })
    expect(error).toMatchObject({ code: -32603 })
  })

  test.each<[string, Partial<ServerExtension>]>([
    ['resources and no servesResources', { servesResources: false }],
    ['servesResources and no resources', { start: () => ({}) }],
  ])('cannot be served by an extension with %s', (_case, change) => {
    const extension = { ...serving('one', textsOf('a://1')), ...change }
    const create = () => createServer({ ...about, extensions: [extension] })
    expect(create).toThrow(DefinitionError)
    expect(create).toThrow('servesResources must be true if, and only if, start returns resources')
  })
})
