import { type JsonObject, McpError } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type Tool, type ToolDefinition, ToolError, isToolError, tool, toolResult } from '../index.ts'
import { callTool, createLogCollector, errorOf } from '../testing/ask.ts'

const { reported, log } = createLogCollector()
const serve = (...tools: Tool[]) => createServer({ name: 'demo', version: '1.0.0', tools, log })
const description = 'A tool'
const point = z.object({ x: z.number(), y: z.number() })
// oxlint-disable-next-line unicorn/no-thenable -- query builders are like this, and are awaited all the same
const thenable = Object.fromEntries([['then', (resolve: (value: string) => void) => resolve('hello')]])

describe('the result of a tool', () => {
  const cases: [string, ToolDefinition<undefined, undefined>['run'], JsonObject][] = [
    ['text', () => 'hello', { content: [{ type: 'text', text: 'hello' }] }],
    ['text later', async () => 'hello', { content: [{ type: 'text', text: 'hello' }] }],
    ['no text', () => '', { content: [{ type: 'text', text: '' }] }],
    [
      'content',
      () => ({ content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] as const }),
      { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
    ],
    [
      'a failure',
      () => ({ content: [{ type: 'text', text: 'Sold out' }] as const, isError: true }),
      { content: [{ type: 'text', text: 'Sold out' }], isError: true },
    ],
    [
      'structured content without a schema',
      () => toolResult({ structuredContent: [1, { a: null }] }),
      { content: [{ type: 'text', text: '[1,{"a":null}]' }], structuredContent: [1, { a: null }] },
    ],
    [
      'anything with a then',
      () => thenable as unknown as Promise<string>,
      { content: [{ type: 'text', text: 'hello' }] },
    ],
  ]

  test.each(cases)('%s becomes a result', async (_, run, expected) => {
    const result = await callTool(serve(tool('t', { description, run })), 't')
    expect(result).toEqual({ resultType: 'complete', _meta: expect.anything(), ...expected })
  })

  test.each([[undefined], [null], [7], [{ a: 1 }], [[]], [{ content: 'text' }]])(
    '%j, which is neither text nor content, is a failure without detail',
    async (value) => {
      const result = await callTool(serve(tool('t', { description, run: () => value as unknown as string })), 't')
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'Tool "t" failed' }] })
      expect(reported.at(-1)).toMatchObject({
        error: { message: expect.stringContaining('declare output') },
        where: { name: 't' },
      })
    },
  )
})

describe('structured results', () => {
  const returns = (value: unknown, output: z.ZodType | JsonObject = point) =>
    callTool(serve(tool('t', { description, output, run: () => value })), 't')

  test('conform to the output schema, and stand once more as JSON text [TOL-029 TOL-030]', async () => {
    const structuredContent = { x: 1, y: 2 }
    expect(await returns({ x: 1, y: 2, secret: 3 })).toMatchObject({
      structuredContent,
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    })
    expect(await returns({ x: 1, y: 2, secret: 3 })).not.toHaveProperty('structuredContent.secret')
  })

  test.each([
    ['a number', 7, z.number()],
    ['null', null, z.null()],
    ['text', 'seven', z.string()],
    ['a list', [{ x: 1, y: 2 }], z.array(point)],
    ['what JSON Schema describes', { x: 1 }, { type: 'object', properties: { x: { type: 'number' } } }],
  ])('may be %s [TOL-030]', async (_, value, output) => {
    expect(await returns(value, output)).toMatchObject({ structuredContent: value })
  })

  test.each([
    ['of the wrong type', { x: 'secret', y: 2 }, point],
    ['missing', undefined, point],
    ['missing from a whole result', toolResult({ content: [] }), point],
    ['not JSON', 10n, z.any()],
    ['a function', () => 'secret', z.any()],
    ['refused by JSON Schema', { x: 'secret' }, { type: 'object', properties: { x: { type: 'number' } } }],
  ])('that are %s never leave the server [TOL-030 TOL-038]', async (_, value, output) => {
    const before = reported.length
    const result = await returns(value, output)
    expect(result).toEqual({
      resultType: 'complete',
      isError: true,
      content: [{ type: 'text', text: 'Tool "t" failed' }],
      _meta: expect.anything(),
    })
    expect(reported).toHaveLength(before + 1)
  })

  test('that go round in a circle never leave the server', async () => {
    const value: { self?: object } = {}
    value.self = value
    expect(await returns(value, z.any())).toMatchObject({ isError: true, content: [{ text: 'Tool "t" failed' }] })
  })

  test('may come with content of their own, and a failure needs none', async () => {
    const content = [{ type: 'text', text: 'At 1, 2' }] as const
    expect(await returns(toolResult({ structuredContent: { x: 1, y: 2 }, content }))).toMatchObject({ content })
    const failure = await returns(toolResult({ isError: true, content }))
    expect(failure).toMatchObject({ isError: true, content })
    expect(failure).not.toHaveProperty('structuredContent')
  })
})

describe('the error of a tool', () => {
  const throws = (error: unknown) => () => {
    throw error
  }
  const rejects = (error: unknown) => async () => {
    await Promise.resolve()
    throw error
  }

  test.each([
    ['throws an error', throws, new Error('postgres://admin:secret@db/items', { cause: new Error('secret') })],
    ['rejects with an error', rejects, new TypeError('secret')],
    ['throws an error without a message', throws, new Error()],
    ['throws text', throws, 'secret'],
    ['rejects with nothing', rejects, undefined],
  ])('a tool that %s has failed, and the author alone reads why [TOL-033]', async (_, how, error) => {
    const before = reported.length
    const result = await callTool(serve(tool('t', { description, run: how(error) })), 't')
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'Tool "t" failed' }] })
    expect(JSON.stringify(result)).not.toMatch(/secret|at .*\.ts/)
    expect(reported.slice(before)).toEqual([{ error, where: { method: 'tools/call', name: 't' } }])
  })

  test.each([
    ['throws', throws],
    ['rejects with', rejects],
  ])('the message of a ToolError that it %s is what the model reads, and no failure', async (_, how) => {
    const before = reported.length
    const error = new ToolError('No such city: Atlantis', { cause: new Error('secret') })
    const result = await callTool(serve(tool('t', { description, run: how(error) })), 't')
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'No such city: Atlantis' }] })
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(reported.slice(before)).toEqual([])
    expect([isToolError(error), isToolError(new Error('no'))]).toEqual([true, false])
  })

  test.each([
    ['throws', throws],
    ['rejects with', rejects],
  ])('an McpError that it %s is answered as one', async (_, how) => {
    const server = serve(tool('t', { description, run: how(new McpError(4711, 'Not now')) }))
    expect(await errorOf(server, 'tools/call', { name: 't' })).toEqual({ code: 4711, message: 'Not now' })
  })
})
