import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createServer, prompt, resource, resourceTemplate, tool } from '../index.ts'
import { internalSettings } from '../internals.ts'
import { encodeCursor } from './catalog.ts'
import { errorOf, invalidParams, pagesOf, resultOf } from '../testing/ask.ts'

const names = Array.from({ length: 7 }, (_, index) => `n${index}`)
const everyKind = (visibleTo?: (name: string) => (principal: { subject: string } | undefined) => boolean) => {
  const of = (name: string) => ({
    name,
    description: name,
    visibleTo: visibleTo?.(name),
    run: () => '',
    read: () => '',
  })
  return {
    tools: names.map((name) => tool(name, of(name))),
    prompts: names.map((name) => prompt(name, of(name))),
    resources: names.map((name) => resource(`test://${name}`, of(name))),
    resourceTemplates: names.map((name) => resourceTemplate(`test://${name}/{id}`, of(name))),
  }
}
const about = { name: 'demo', version: '1.0.0' }
const lists = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const
const namesOf = (page: object, field: string) => {
  const entries: unknown = Reflect.get(page, field)
  return Array.isArray(entries) ? entries.map(({ name }) => name) : []
}
const evenOnly = (name: string) => (principal: { subject: string } | undefined) =>
  principal?.subject === 'alice' || Number(name.slice(1)) % 2 === 0

describe.each(lists)('%s', (method, field) => {
  test.each([
    [1, 7],
    [2, 4],
    [3, 3],
    [6, 2],
    [7, 1],
    [8, 1],
  ])('in pages of %i has %i pages, with everything once and in order [TOL-007]', async (pageSize, count) => {
    const pages = await pagesOf(createServer({ ...about, ...everyKind(), ...internalSettings({ pageSize }) }), method)
    expect(pages).toHaveLength(count)
    expect(pages.flatMap((page) => namesOf(page, field))).toEqual(names)
  })

  test('has one page by default, public for five minutes, and the same after calls of others [TOL-006 TOL-007 CCH-002 CCH-003 CCH-004 CCH-005]', async () => {
    const server = createServer({ ...about, ...everyKind() })
    const page = await resultOf(server, method)
    expect(page).toMatchObject({ ttlMs: 300_000, cacheScope: 'public' })
    expect(page).not.toHaveProperty('nextCursor')
    await resultOf(server, 'tools/call', { name: 'n0' }, { principal: { subject: 'bob' } })
    expect(await resultOf(server, method)).toBe(page)
    expect(Object.isFrozen(page)).toBe(true)
  })

  test('is empty when nothing is in it', async () => {
    const server = createServer({ ...about, tools: [], prompts: [], resources: [] })
    expect(await resultOf(server, method)).toMatchObject({ [field]: [], ttlMs: 300_000, cacheScope: 'public' })
  })

  test('keeps as the author says [CCH-014 CCH-015]', async () => {
    const server = createServer({ ...about, ...everyKind(), cache: { ttlMs: 0, scope: 'private' } })
    expect(await resultOf(server, method)).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  })

  test('that varies by caller is private on every page, even if the author makes it public [CCH-024 CCH-025]', async () => {
    const server = createServer({
      ...about,
      ...everyKind(evenOnly),
      ...internalSettings({ pageSize: 2 }),
      cache: { scope: 'public' },
    })
    for (const subject of ['alice', 'bob']) {
      const pages = await pagesOf(server, method, { principal: { subject } })
      expect(pages.map((page) => page['cacheScope'])).toEqual(pages.map(() => 'private'))
      expect(pages.flatMap((page) => namesOf(page, field))).toEqual(
        subject === 'alice' ? names : ['n0', 'n2', 'n4', 'n6'],
      )
    }
  })

  const key = (name: string) =>
    ({ tools: name, prompts: name, resources: `test://${name}`, resourceTemplates: `test://${name}/{id}` })[field]
  const cursor = encodeCursor(field, key('n1'))

  test.each([
    ['empty', ''],
    ['no Base64', '!'],
    ['of another list', encodeCursor(field === 'tools' ? 'prompts' : 'tools', key('n1'))],
    ['of an entry that does not exist', encodeCursor(field, key('n9'))],
    ['of an entry that ends no page', encodeCursor(field, key('n0'))],
    ['of the last entry', encodeCursor(field, key('n6'))],
    ['with padding', `${cursor}=`],
    ['with something behind it', `${cursor}A`],
    ['with a space before it', ` ${cursor}`],
    ['of a name that every object has', encodeCursor(field, '__proto__')],
    ['very long', 'A'.repeat(100_000)],
  ])('refuses a cursor that is %s', async (_, forged) => {
    const server = createServer({ ...about, ...everyKind(), ...internalSettings({ pageSize: 2 }) })
    expect(namesOf(await resultOf(server, method, { cursor }), field)).toEqual(['n2', 'n3'])
    expect(await errorOf(server, method, { cursor: forged })).toMatchObject({
      code: invalidParams,
      message: expect.stringContaining('list again without a cursor'),
    })
  })

  test('refuses a cursor of an entry that is hidden from the caller [CCH-026]', async () => {
    const server = createServer({ ...about, ...everyKind(evenOnly), ...internalSettings({ pageSize: 2 }) })
    const hidden = await errorOf(server, method, { cursor }, { principal: { subject: 'bob' } })
    const unknown = await errorOf(
      server,
      method,
      { cursor: encodeCursor(field, key('n9')) },
      { principal: { subject: 'bob' } },
    )
    expect(hidden).toEqual(unknown)
    expect(namesOf(await resultOf(server, method, { cursor }, { principal: { subject: 'alice' } }), field)).toEqual([
      'n2',
      'n3',
    ])
  })
})

test('a cursor holds on another instance, and is stale when its entry is gone', async () => {
  const offers = everyKind()
  const first = createServer({ ...about, ...offers, ...internalSettings({ pageSize: 2 }) })
  const second = createServer({ ...about, ...offers, ...internalSettings({ pageSize: 2 }) })
  const { nextCursor } = await resultOf(first, 'tools/list')
  expect(await resultOf(second, 'tools/list', { cursor: nextCursor })).toMatchObject({
    tools: [{ name: 'n2' }, { name: 'n3' }],
  })
  second.update({ tools: offers.tools.slice(3) })
  expect(await errorOf(second, 'tools/list', { cursor: nextCursor })).toMatchObject({ code: invalidParams })
})

test('a cursor that is not a string is malformed', async () => {
  expect(await errorOf(createServer({ ...about, tools: [] }), 'tools/list', { cursor: 7 })).toMatchObject({
    code: invalidParams,
  })
})

test('no two entries have the same cursor, and every cursor is URL-safe', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
      const cursors = [encodeCursor('tools', one), encodeCursor('tools', other), encodeCursor('prompts', one)]
      expect(cursors[0] === cursors[1]).toBe(one === other)
      expect(cursors[2]).not.toBe(cursors[0])
      for (const cursor of cursors) expect(cursor).toMatch(/^[\w-]+$/)
    }),
  )
})
