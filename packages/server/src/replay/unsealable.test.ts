import { errorCodes, type JsonObject, type JsonValue } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../index.ts'
import { accept, type Round, type RunHandler, send, serve, toolKind } from '../testing/rounds.ts'

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
const question = (message: string) => ({ message, schema: z.object({ text: z.string() }) })
const asksTwice: RunHandler = async (ctx) => {
  const { text } = await ctx.elicit('first', question('What?'))
  await ctx.elicit('second', question('And then?'))
  return `${text.length}`
}
const picture: RunHandler = async (ctx) => {
  const { content } = await ctx.sample('model', { messages: [], maxTokens: 10 })
  await ctx.elicit('second', question('And then?'))
  return JSON.stringify(content)
}

/** The first round of a tool that asks, with arguments as a client wrote them. */
async function callWith(args: string): Promise<Round> {
  const tools = [tool('do', { description: 'Asks', input: { type: 'object' }, run: (_, ctx) => asksTwice(ctx) })]
  const params: JsonObject = { name: 'do', arguments: JSON.parse(args) }
  return send(serve(asksTwice, { tools }, { ...toolKind, params }))
}

/** The second round of a call, with an answer as a client wrote it. */
async function answerWith(run: RunHandler, key: string, answer: JsonValue): Promise<Round> {
  const served = serve(run)
  const { state } = await send(served)
  return send(served, { state, responses: { [key]: answer } })
}

describe('a tool that asks', () => {
  test.each([200, 250])('can be called with arguments of %d levels', async (depth) => {
    const { requests } = await callWith(`{"a":${nested(depth)}}`)
    expect(Object.keys(requests)).toEqual(['first'])
  })

  test.each([
    ['half of a surrogate pair', '{"a":["\\ud800"]}', 'arguments/a/0 has half of a surrogate pair'],
    ['half of a surrogate pair in a key', '{"\\udfff":1}', 'arguments/\\udfff has half of a surrogate pair'],
    ['a number beyond all numbers', '{"a":{"b":-1e400}}', 'arguments/a/b is a number that is too large'],
    ['more levels than a parser takes', `{"a":${nested(400)}}`, 'is deeper than 256 levels'],
  ])('rejects arguments with %s as the fault of the client', async (_title, args, reason) => {
    const { error } = await callWith(args)
    expect(error).toMatchObject({ code: errorCodes.invalidParams, message: expect.stringContaining(reason) })
  })

  test('takes an answer with half of a surrogate pair', async () => {
    const { requests } = await answerWith(asksTwice, 'first', accept({ text: 'a\ud800' }))
    expect(Object.keys(requests)).toEqual(['second'])
  })

  test.each([25_000, 100_000])('rejects an answer of %d characters as the fault of the client', async (length) => {
    const { error } = await answerWith(asksTwice, 'first', accept({ text: 'x'.repeat(length) }))
    expect(error).toMatchObject({
      code: errorCodes.invalidParams,
      message: expect.stringMatching(
        /^inputResponses has answers of \d+ characters .* more than requestState can carry$/,
      ),
    })
  })

  test('rejects an answer with a number beyond all numbers as the fault of the client', async () => {
    const content: JsonValue = JSON.parse('[{"type":"text","text":"x","_meta":{"a":1e400}}]')
    const { error } = await answerWith(picture, 'model', { role: 'assistant', model: 'm', content })
    expect(error).toMatchObject({
      code: errorCodes.invalidParams,
      message: 'inputResponses/model/content/0/_meta/a is a number that is too large',
    })
  })

  test('is at fault where its own records are too large, also with large answers', async () => {
    const hoards: RunHandler = async (ctx) => {
      await ctx.elicit('first', question('What?'))
      await ctx.step('load', () => 'x'.repeat(100_000))
      await ctx.elicit('second', question('And then?'))
      return 'done'
    }
    const { error } = await answerWith(hoards, 'first', accept({ text: 'x'.repeat(1000) }))
    expect(error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
  })
})
