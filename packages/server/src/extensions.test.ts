import { contextKey, createCall, type Middleware, withContext } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { createServer, prompt, resource, resourceTemplate, tool, type VisibleTo, type CallView } from './index.ts'
import { callTool, errorOf, invalidParams, pagesOf, resultOf, textOf } from './testing/ask.ts'

const badgeKey = contextKey<string>('com.example/badge')
const about = { name: 'demo', version: '1.0.0' }
const badgeOf = ({ context }: CallView): string => String(context.get(badgeKey))
const badged = (badge: string) => ({ context: withContext(createCall(), badgeKey, badge).context })

describe('A value in the context of a call', () => {
  const show = tool('show', { description: 'Shows it', run: (_args, ctx) => badgeOf(ctx) })

  test('reaches the handler of the call that it was given with, and of no other', async () => {
    const server = createServer({ ...about, tools: [show] })
    expect(textOf(await callTool(server, 'show', {}, badged('a')))).toBe('a')
    expect(textOf(await callTool(server, 'show'))).toBe('undefined')
    expect(textOf(await callTool(server, 'show', {}, badged('b')))).toBe('b')
  })

  test('is set by a middleware, and the innermost one counts', async () => {
    const set =
      (badge: string): Middleware =>
      (next) =>
      (request, call) =>
        next(request, withContext(call, badgeKey, badge))
    const server = createServer({ ...about, tools: [show], use: [set('outer'), set('inner')] })
    expect(textOf(await callTool(server, 'show'))).toBe('inner')
  })

  test('reaches the completion of an argument', async () => {
    const complete = { id: (_: string, { ctx }: { ctx: CallView }) => [badgeOf(ctx)] }
    const template = resourceTemplate('test://{id}', { name: 'one', complete, read: () => '' })
    const server = createServer({ ...about, resourceTemplates: [template] })
    const params = { ref: { type: 'ref/resource', uri: 'test://{id}' }, argument: { name: 'id', value: '' } }
    expect(await resultOf(server, 'completion/complete', params, badged('a'))).toMatchObject({
      completion: { values: ['a'] },
    })
  })

  test('meets a key of the same name, as from another copy of the package', async () => {
    const server = createServer({ ...about, tools: [show] })
    const context = withContext(createCall(), contextKey<string>('com.example/badge'), 'same').context
    expect(textOf(await callTool(server, 'show', {}, { context }))).toBe('same')
  })
})

describe('A definition whose visibility depends on the context', () => {
  const visibleTo: VisibleTo = (_principal, call) => badgeOf(call) === 'a'
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
  ])('is listed by %s for those calls alone', async (method, field) => {
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
