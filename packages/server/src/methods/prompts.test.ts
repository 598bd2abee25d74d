import { errorCodes, McpError } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type Prompt, type PromptReturn, prompt } from '../index.ts'
import { createLogCollector, errorOf, invalidParams, resultOf } from '../testing/ask.ts'

const { reported, log } = createLogCollector()
const serve = (...prompts: Prompt[]) => createServer({ name: 'demo', version: '1.0.0', prompts, log })
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const

describe('the result of a prompt', () => {
  const cases: [string, PromptReturn, object][] = [
    ['text', 'Hi', { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }] }],
    ['content', image, { messages: [{ role: 'user', content: image }] }],
    ['messages', [{ role: 'assistant', content: image }], { messages: [{ role: 'assistant', content: image }] }],
    ['no messages', [], { messages: [] }],
    [
      'all of it',
      { messages: [], description: 'Another', _meta: { 'com.example/a': 1 } },
      { messages: [], description: 'Another' },
    ],
  ]

  test.each(cases)('%s becomes a result', async (_, returned, expected) => {
    for (const run of [() => returned, async () => returned]) {
      const server = serve(prompt('p', { description: 'About', run }))
      const result = await resultOf(server, 'prompts/get', { name: 'p' })
      expect(result).toMatchObject({ resultType: 'complete', description: 'About', ...expected })
    }
  })
})

describe('arguments', () => {
  const server = serve(
    prompt('review', {
      input: z.object({
        code: z.string(),
        style: z.enum(['kind', 'harsh']),
        depth: z.string().transform(Number).optional(),
      }),
      run: ({ code, style, depth }) => `${code} ${style} ${typeof depth}`,
    }),
    prompt('raw', {
      input: { type: 'object', properties: { a: { type: 'string', maxLength: 2 } }, required: ['a'] },
      run: (args) => JSON.stringify(args),
    }),
    prompt('none', { run: (args) => JSON.stringify(args) }),
  )
  const get = (name: string, args?: Record<string, string>) => ({ name, ...(args && { arguments: args }) })

  test('are listed from the schema', async () => {
    const described = prompt('p', {
      title: 'P',
      description: 'A prompt',
      input: z.object({ a: z.string().meta({ title: 'The A', description: 'First' }), b: z.string().optional() }),
      icons: [{ src: 'data:image/png;base64,AA==' }],
      meta: { 'com.example/a': 1 },
      run: () => '',
    })
    const list = await resultOf(serve(described, prompt('bare', { run: () => '' })), 'prompts/list')
    expect(list['prompts']).toEqual([
      {
        name: 'p',
        title: 'P',
        description: 'A prompt',
        arguments: [{ name: 'a', title: 'The A', description: 'First', required: true }, { name: 'b' }],
        icons: [{ src: 'data:image/png;base64,AA==' }],
        _meta: { 'com.example/a': 1 },
      },
      { name: 'bare' },
    ])
  })

  test.each([
    ['review', { code: 'x', style: 'kind', depth: '3' }, 'x kind number'],
    ['review', { code: 'x', style: 'kind' }, 'x kind undefined'],
    ['raw', { a: 'ab' }, '{"a":"ab"}'],
    ['none', undefined, '{}'],
  ])('%s(%j) runs with what the schema made of them', async (name, args, text) => {
    expect(await resultOf(server, 'prompts/get', get(name, args))).toMatchObject({ messages: [{ content: { text } }] })
  })

  test.each([
    ['review', undefined, ['missing: code, style']],
    ['review', { code: 'x' }, ['missing: style']],
    ['review', { style: 'kind' }, ['missing: code']],
    ['review', { code: 'x', style: 'odd' }, ['style', 'kind', 'harsh']],
    ['raw', { a: 'abc' }, ['a']],
    ['raw', JSON.parse('{"__proto__":"x"}'), ['missing: a']],
    ['none', { extra: 'x' }, ['extra']],
  ])('%s(%j) is refused, and says why', async (name, args, parts) => {
    const error = await errorOf(server, 'prompts/get', get(name, args))
    expect(error.code).toBe(invalidParams)
    for (const part of parts) expect(error.message).toContain(part)
  })

  test('may be coerced to numbers, with their bounds and defaults', async () => {
    const input = z.object({
      count: z.coerce.number().int().max(9),
      page: z.coerce.number().default(1),
      size: z.coerce.number().optional(),
    })
    const coercing = serve(prompt('list', { input, run: (args) => JSON.stringify(args) }))
    expect(await resultOf(coercing, 'prompts/list')).toMatchObject({
      prompts: [{ arguments: [{ name: 'count', required: true }, { name: 'page' }, { name: 'size' }] }],
    })
    expect(await resultOf(coercing, 'prompts/get', get('list', { count: '7' }))).toMatchObject({
      messages: [{ content: { text: '{"count":7,"page":1}' } }],
    })
    for (const count of ['ten', '10', '1.5']) {
      expect((await errorOf(coercing, 'prompts/get', get('list', { count }))).message).toContain('count')
    }
  })

  test('that are not strings are malformed', async () => {
    const error = await errorOf(server, 'prompts/get', { name: 'raw', arguments: { a: 1 } })
    expect(error).toMatchObject({ code: invalidParams, message: expect.stringContaining('arguments') })
  })
})

test.each(['unknown', '__proto__', 'constructor'])('prompt %s is unknown', async (name) => {
  const error = await errorOf(serve(prompt('p', { run: () => '' })), 'prompts/get', { name })
  expect(error).toEqual({ code: invalidParams, message: `Unknown prompt: "${name}"` })
})

test('the peer receives an internal error without details when a prompt fails, unless the prompt throws an McpError', async () => {
  const failing = prompt('failing', { run: () => Promise.reject(new Error('secret')) })
  const refusing = prompt('refusing', { run: () => Promise.reject(new McpError(4711, 'Not now')) })
  expect(await errorOf(serve(failing), 'prompts/get', { name: 'failing' })).toEqual({
    code: errorCodes.internal,
    message: 'Internal error',
  })
  expect(reported).toMatchObject([{ error: { message: 'secret' }, where: { method: 'prompts/get', name: 'failing' } }])
  expect(await errorOf(serve(refusing), 'prompts/get', { name: 'refusing' })).toEqual({
    code: 4711,
    message: 'Not now',
  })
})

test('a prompt for some is listed for them and got by them alone', async () => {
  const visible = prompt('p', { visibleTo: (principal) => principal?.subject === 'alice', run: () => 'Hi' })
  const server = serve(visible)
  const alice = { principal: { subject: 'alice' } }
  expect(await resultOf(server, 'prompts/list', {}, alice)).toMatchObject({
    prompts: [{ name: 'p' }],
    cacheScope: 'private',
  })
  expect(await resultOf(server, 'prompts/list')).toMatchObject({ prompts: [], cacheScope: 'private' })
  expect(await resultOf(server, 'prompts/get', { name: 'p' }, alice)).toHaveProperty('messages')
  expect(await errorOf(server, 'prompts/get', { name: 'p' })).toMatchObject({ message: 'Unknown prompt: "p"' })
})

test('a prompt may require a capability [BAS-057]', async () => {
  const server = serve(prompt('p', { requires: { roots: {} }, run: () => 'Hi' }))
  expect(await errorOf(server, 'prompts/get', { name: 'p' })).toMatchObject({
    code: errorCodes.missingRequiredClientCapability,
    data: { requiredCapabilities: { roots: {} } },
  })
})
