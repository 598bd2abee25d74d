import { extendCall } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Context, createServer, prompt, resource, resourceTemplate, tool, type VisibleTo } from '../index.ts'
import { callOf, callTool, errorOf, invalidParams, pagesOf, resultOf, textOf } from '../testing/ask.ts'

const identifier = 'com.example/badge'
const about = { name: 'demo', version: '1.0.0' }
const badgeOf = (ctx: Pick<Context, 'extension'>): string => String(ctx.extension(identifier))
const badged = (badge: string) => ({ extensions: extendCall(callOf(), identifier, () => badge).extensions })

describe('What an exchange around the server gives', () => {
  const show = tool('show', { description: 'Shows it', run: (_args, ctx) => badgeOf(ctx) })

  test('reaches the handler of the call that it was given with, and of no other', async () => {
    const server = createServer({ ...about, tools: [show] })
    expect(textOf(await callTool(server, 'show', {}, badged('a')))).toBe('a')
    expect(textOf(await callTool(server, 'show'))).toBe('undefined')
    expect(textOf(await callTool(server, 'show', {}, badged('b')))).toBe('b')
  })

  test('reaches what completes an argument', async () => {
    const complete = { id: (_: string, { ctx }: { ctx: Pick<Context, 'extension'> }) => [badgeOf(ctx)] }
    const template = resourceTemplate('test://{id}', { name: 'one', complete, read: () => '' })
    const server = createServer({ ...about, resourceTemplates: [template] })
    const params = { ref: { type: 'ref/resource', uri: 'test://{id}' }, argument: { name: 'id', value: '' } }
    expect(await resultOf(server, 'completion/complete', params, badged('a'))).toMatchObject({
      completion: { values: ['a'] },
    })
  })

  test('is opened anew for every run of a handler, so that nothing of an earlier run stays in it', async () => {
    let opened = 0
    const open = () => ({ times: 0, opened: ++opened })
    const notes: string[] = []
    const asking = tool('asking', {
      description: 'Asks',
      async run(_args, ctx) {
        const given = ctx.extension(identifier)
        const mine = z.object({ times: z.number(), opened: z.number() }).parse(given)
        Object.assign(Object(given), { times: mine.times + 1 })
        notes.push(`run ${mine.opened}: ${mine.times}, ${given === ctx.extension(identifier)}`)
        return ctx.step('work', () => 'done')
      },
    })
    const server = createServer({ ...about, tools: [asking], strictReplay: true })
    await callTool(server, 'asking', {}, { extensions: extendCall(callOf(), identifier, open).extensions })
    expect(notes.length).toBeGreaterThan(1)
    expect(notes).toEqual(notes.map((_, index) => `run ${index + 1}: 0, true`))
  })
})

describe('A definition that an extension opens', () => {
  const visibleTo: VisibleTo = (_principal, view) => view.extension(identifier) === 'a'
  const server = createServer({
    ...about,
    tools: [tool('t', { description: 't', visibleTo, run: () => 'ran' })],
    prompts: [prompt('p', { description: 'p', visibleTo, run: () => 'ran' })],
    resources: [resource('test://r', { name: 'r', visibleTo, read: () => 'ran' })],
    resourceTemplates: [resourceTemplate('test://t/{id}', { name: 't', visibleTo, read: () => 'ran' })],
  })

  test.each([
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
  ])('stands in %s for those calls alone', async (method, field) => {
    const count = async (badge: string): Promise<unknown[]> =>
      (await pagesOf(server, method, badged(badge))).flatMap((page) => page[field])
    expect(await count('a')).toHaveLength(1)
    expect(await count('b')).toEqual([])
  })

  test.each([
    ['tools/call', { name: 't' }],
    ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'test://r' }],
    ['resources/read', { uri: 'test://t/1' }],
  ])('is used through %s with %j by those calls alone', async (method, params) => {
    expect(JSON.stringify(await resultOf(server, method, params, badged('a')))).toContain('ran')
    expect((await errorOf(server, method, params, badged('b'))).code).toBe(invalidParams)
    expect((await errorOf(server, method, params)).code).toBe(invalidParams)
  })
})
