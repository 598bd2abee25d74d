import { errorCodes, McpError } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createServer, resource, type ResourceLister, resourceTemplate, type ServerOffers } from '../index.ts'
import { internalSettings } from '../internals.ts'
import { createLogCollector, errorOf, invalidParams, pagesOf, resultOf } from '../testing/ask.ts'

const about = { name: 'demo', version: '1.0.0', ...internalSettings({ pageSize: 2 }) }
const serve = (offers: ServerOffers) => createServer({ ...about, ...offers })
const read = () => ''
const fixed = ['a', 'b', 'c'].map((name) => resource(`fixed://${name}`, { name, read }))
const note = (list: ResourceLister) =>
  resourceTemplate('note://{owner}/{id}', { name: 'Note', mimeType: 'text/plain', list, read })
const entry = (owner: string, id: string | number) => ({ uri: `note://${owner}/${id}`, name: `Note ${id}` })
const own: ResourceLister = (ctx) => [1, 2].map((id) => entry(ctx.principal?.subject ?? 'anonymous', id))
const uris = (pages: readonly object[]) =>
  pages.map((page) =>
    'resources' in page && Array.isArray(page.resources) ? page.resources.map(({ uri }) => uri) : [],
  )

/** Three pages of two notes, whose cursor has a dot in it. */
const paged: ResourceLister = (_, cursor = 'p.0') => {
  const index = Number(cursor.slice(2))
  if (!Number.isInteger(index)) throw new McpError(invalidParams, 'Not a cursor of the notes')
  const resources = [entry('all', index), entry('all', `${index}b`)]
  return { resources, ...(index < 2 && { nextCursor: `p.${index + 1}` }), ttlMs: 5, cacheScope: 'public' }
}

describe('the resources of templates are listed', () => {
  test('behind those with URIs of their own, page by page, in the order of the templates', async () => {
    const other = resourceTemplate('other://{id}', { name: 'Other', list: () => [], read })
    const pages = await pagesOf(serve({ resources: fixed, resourceTemplates: [note(paged), other] }), 'resources/list')
    expect(uris(pages)).toEqual([
      ['fixed://a', 'fixed://b'],
      ['fixed://c', 'note://all/0', 'note://all/0b'],
      ['note://all/1', 'note://all/1b'],
      ['note://all/2', 'note://all/2b'],
      [],
    ])
    expect(pages[2]).toMatchObject({ ttlMs: 5, cacheScope: 'public' })
  })

  test('on one page with those that have URIs of their own, when all of them fit', async () => {
    const other = resourceTemplate('other://{id}', {
      name: 'Other',
      list: () => [{ uri: 'other://1', name: '1' }],
      read,
    })
    const offers = { resources: fixed.slice(0, 1), resourceTemplates: [note(own), other] }
    const page = await resultOf(
      createServer({ ...about, ...internalSettings({ pageSize: 4 }), ...offers }),
      'resources/list',
    )
    expect(uris([page])).toEqual([['fixed://a', 'note://anonymous/1', 'note://anonymous/2', 'other://1']])
    expect(page).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    expect(page).not.toHaveProperty('nextCursor')
  })

  test('on a page that reads at most twenty of the pages of an author, however empty they are', async () => {
    let reads = 0
    const empty: ResourceLister = () => ({ resources: [], nextCursor: `${++reads}` })
    const page = await resultOf(serve({ resourceTemplates: [note(empty)] }), 'resources/list')
    expect([reads, uris([page]), typeof page['nextCursor']]).toEqual([20, [[]], 'string'])
  })

  test('on a page that ends before a template whose list fails, so that the others can be read', async () => {
    const { reported, log } = createLogCollector()
    const failing = note(() => Promise.reject(new Error('unreachable')))
    const offers = { resources: fixed.slice(0, 1), resourceTemplates: [failing] }
    const server = createServer({ ...about, ...offers, log })
    const page = await resultOf(server, 'resources/list')
    expect([uris([page]), reported]).toEqual([[['fixed://a']], []])
    const cursor = page['nextCursor'] ?? null
    expect((await errorOf(server, 'resources/list', { cursor })).code).toBe(errorCodes.internal)
    expect(reported).toHaveLength(1)
  })

  test('for each caller its own, with the media type of the template, and without caching', async () => {
    const server = serve({ resourceTemplates: [note(own)] })
    for (const subject of ['ada', 'bob']) {
      const page = await resultOf(server, 'resources/list', {}, { principal: { subject } })
      expect(page).toMatchObject({
        resources: [{ uri: `note://${subject}/1`, name: 'Note 1', mimeType: 'text/plain' }, { name: 'Note 2' }],
        ttlMs: 0,
        cacheScope: 'private',
      })
      expect(page).not.toHaveProperty('nextCursor')
    }
  })

  test('not to a caller that may not see the template, and the previous page is then private', async () => {
    const hidden = resourceTemplate('note://{owner}/{id}', {
      name: 'Note',
      list: own,
      read,
      visibleTo: (principal) => principal?.subject === 'ada',
    })
    const server = serve({ resources: fixed.slice(0, 1), resourceTemplates: [hidden] })
    const ada = await pagesOf(server, 'resources/list', { principal: { subject: 'ada' } })
    expect(uris(ada)).toEqual([['fixed://a', 'note://ada/1', 'note://ada/2']])
    const bob = await pagesOf(server, 'resources/list', { principal: { subject: 'bob' } })
    expect(uris(bob)).toEqual([['fixed://a']])
    expect([ada[0], bob[0]]).toEqual([
      expect.objectContaining({ cacheScope: 'private' }),
      expect.objectContaining({ cacheScope: 'private' }),
    ])
    const full = serve({ resources: fixed.slice(0, 2), resourceTemplates: [hidden] })
    const page = await resultOf(full, 'resources/list', {}, { principal: { subject: 'ada' } })
    const stolen = { cursor: page['nextCursor'] ?? null }
    expect((await errorOf(full, 'resources/list', stolen, { principal: { subject: 'bob' } })).code).toBe(invalidParams)
  })

  test('an unknown cursor, and one that the author rejects, are invalid', async () => {
    const server = serve({ resources: fixed, resourceTemplates: [note(paged)] })
    const template = (await pagesOf(server, 'resources/list'))[1]?.['nextCursor']
    for (const cursor of ['', '.', 'x.y', `${String(template)}x`, `${String(template)}.p.x`]) {
      expect((await errorOf(server, 'resources/list', { cursor })).code).toBe(invalidParams)
    }
  })

  test('an entry that could not be read is left out, and a list that fails is reported', async () => {
    const { reported, log } = createLogCollector()
    const foreign = [{ uri: 'file:///etc/passwd', name: 'x' }, { uri: 'note://a/1', name: '' }, entry('a', 2)]
    const server = createServer({ ...about, resourceTemplates: [note(() => foreign)], log })
    expect(uris([await resultOf(server, 'resources/list')])).toEqual([['note://a/2']])
    expect(reported.map(({ error }) => String((error as Error).cause))).toEqual([
      expect.stringContaining('file:///etc/passwd'),
      expect.stringContaining('has no name'),
    ])
    const failing = createServer({
      ...about,
      resourceTemplates: [note(() => Promise.reject(new Error('away')))],
      log,
    })
    expect(await errorOf(failing, 'resources/list')).toEqual({ code: errorCodes.internal, message: 'Internal error' })
    expect(reported.at(-1)).toMatchObject({ error: { message: 'away' }, where: { method: 'resources/list' } })
  })
})

describe('variables are completed from the list', () => {
  const ref = { type: 'ref/resource', uri: 'note://{owner}/{id}' }
  const complete = async (list: ResourceLister, argument: { name: string; value: string }, known = {}) => {
    const params = { ref, argument, context: { arguments: known } }
    return (await resultOf(serve({ resourceTemplates: [note(list)] }), 'completion/complete', params))['completion']
  }
  const all = [entry('ada', 'one'), entry('ada', 'two'), entry('bob', 'Once')]

  test.each([
    [{ name: 'owner', value: '' }, {}, ['ada', 'bob']],
    [{ name: 'id', value: 'on' }, {}, ['one', 'Once']],
    [{ name: 'id', value: '' }, { owner: 'ada' }, ['one', 'two']],
    [{ name: 'id', value: '' }, { owner: 'ada', id: 'x', unknown: 'y' }, ['one', 'two']],
    [{ name: 'id', value: 'zzz' }, {}, []],
  ])('%j, with %j known, gives %j', async (argument, known, values) => {
    expect(await complete(() => all, argument, known)).toMatchObject({ values, hasMore: false })
  })

  test('over its pages, of which an endless list has twenty', async () => {
    expect(await complete(paged, { name: 'id', value: '' })).toMatchObject({
      values: ['0', '0b', '1', '1b', '2', '2b'],
    })
    let pages = 0
    const endless: ResourceLister = () => ({ resources: [entry('a', pages++)], nextCursor: 'again' })
    expect(await complete(endless, { name: 'owner', value: '' })).toEqual({ values: ['a'], hasMore: true })
    expect(pages).toBe(20)
    const wide: ResourceLister = () => ({
      resources: Array.from({ length: 200 }, (_, id) => entry('a', id)),
      nextCursor: 'x',
    })
    expect(await complete(wide, { name: 'id', value: '' })).toMatchObject({ values: { length: 100 }, hasMore: true })
  })

  test('unless the author completes a variable', async () => {
    const template = resourceTemplate('note://{owner}/{id}', {
      name: 'Note',
      list: () => all,
      complete: { owner: () => ['carl'] },
      read,
    })
    const server = serve({ resourceTemplates: [template] })
    const params = { ref, argument: { name: 'owner', value: '' } }
    expect(await resultOf(server, 'completion/complete', params)).toMatchObject({ completion: { values: ['carl'] } })
  })
})
