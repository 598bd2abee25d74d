import { errorCodes, type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Context } from '../index.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const page = { message: 'Please sign in', url: 'https://example.com/sign-in' }
const text = { message: 'What?', schema: z.object({}) }
const hello = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 } as const
const said = { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' }
const tools = [{ name: 't', inputSchema: { type: 'object' } }] as const

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe('a tool that sends its user to a page', () => {
    test('sends the same unchanged URL in every round, and continues when the server finds the page done', async () => {
      let done = false
      const run: RunHandler = async (ctx) => {
        const url = `https://example.com/sign-in/${ctx.uuid('login')}`
        await ctx.elicitUrl('login', { message: 'Please sign in', url, isDone: () => done })
        return 'welcome'
      }
      const finish = () => {
        done = true
        return { action: 'accept' }
      }
      const answers = { login: { action: 'accept' }, 'login~2': { action: 'accept' }, 'login~3': finish }
      const { rounds, asked, text: end } = await completeCall(serve(run, mode), answers)
      expect([asked, end]).toEqual([[['login'], ['login~2'], ['login~3']], 'welcome'])
      const params = rounds.flatMap(({ requests }) => Object.values(requests).map((request) => request.params))
      expect(params[0]).toEqual({
        mode: 'url',
        message: 'Please sign in',
        url: expect.stringMatching(/sign-in\/[\w-]{36}$/),
        elicitationId: expect.stringMatching(/^[\da-f]{32}$/),
      })
      // Hosts open a page once for each id.
      expect(new Set(params.map((one) => one && 'elicitationId' in one && one.elicitationId))).toHaveLength(1)
      expect(new Set(params.map((one) => (one && 'url' in one ? one.url : '')))).toHaveLength(1)
      expect(params[1]).toMatchObject({ message: 'Please sign in\n\nThis is not finished yet.' })
    })

    test('continues with the consent where the server has no check, and the handler may check later', async () => {
      const run: RunHandler = async (ctx) => {
        await ctx.elicitUrl('a', page)
        await ctx.elicitUrl('b', { ...page, isDone: async () => true })
        return 'welcome'
      }
      const { text: end } = await completeCall(serve(run, mode), {
        a: { action: 'accept' },
        b: { action: 'accept' },
      })
      expect(end).toBe('welcome')
    })

    test.each(['decline', 'cancel'])('ends when the user %ss, and does not ask again', async (action) => {
      const run: RunHandler = (ctx) => ctx.elicitUrl('a', { ...page, isDone: () => false }).then(() => 'welcome')
      const { asked, isError, error } = await completeCall(serve(run, mode), { a: { action } })
      expect(asked).toEqual([['a']])
      expect(isError || error?.code === errorCodes.invalidParams).toBe(true)
    })
  })

  test('never emits -32042 for a page [BAS-021]', async () => {
    const run: RunHandler = (ctx) => ctx.elicitUrl('a', page).then(() => 'welcome')
    const { error, requests } = await send(serve(run, mode))
    expect([error, Object.keys(requests)]).toEqual([undefined, ['a']])
    const incapable = await send(serve(run, mode), {}, { meta: { [metaKeys.clientCapabilities]: {} } })
    expect(incapable.error?.code).toBe(errorCodes.missingRequiredClientCapability)
  })

  test("a tool asks the client's model, and for its roots [MRT-001 MRT-006]", async () => {
    const run: RunHandler = async (ctx) => {
      const [{ content }, roots] = await Promise.all([ctx.sample('model', hello), ctx.roots('where')])
      return JSON.stringify([content, roots])
    }
    const answers = { model: said, where: { roots: [{ uri: 'file:///home', name: 'Home' }] } }
    const { rounds, text: end } = await completeCall(serve(run, mode), answers)
    expect(rounds[0]?.requests).toEqual({
      model: { method: 'sampling/createMessage', params: hello },
      where: { method: 'roots/list' },
    })
    expect(end).toBe('[{"type":"text","text":"Hello"},[{"uri":"file:///home","name":"Home"}]]')
  })

  const blocks = [said.content, { type: 'image', data: 'AA==', mimeType: 'image/png' }, said.content]
  test.each<[JsonObject, string]>([
    [said, 'Hello'],
    [{ ...said, content: blocks }, 'Hello\nHello'],
  ])('the text of what a model said is one string', async (answer, expected) => {
    const { text: end } = await completeCall(
      serve((ctx) => ctx.sampleText('model', hello), mode),
      { model: answer },
    )
    expect(end).toBe(expected)
  })

  test.each([[blocks[1] ?? null], [[]]])(
    'a model that said nothing in words fails the call, and is named',
    async (content) => {
      const run: RunHandler = (ctx) => ctx.sampleText('model', hello)
      const served = serve(run, mode)
      const { isError, text: end } = await completeCall(served, { model: { ...said, content } })
      expect([isError, end]).toEqual([true, 'Tool "do" failed'])
      expect(String(served.reported.at(-1)?.error)).toMatch(/"model".*(image|nothing) and no text/)
    },
  )

  const wrong: [string, (ctx: Context) => Promise<unknown>, JsonObject, JsonObject][] = [
    ['a model', (ctx) => ctx.sample('k', hello), accept(), said],
    ['a model', (ctx) => ctx.sample('k', hello), { roots: [] }, said],
    ['roots', (ctx) => ctx.roots('k'), said, { roots: [] }],
    ['roots', (ctx) => ctx.roots('k'), accept(), { roots: [] }],
    ['a page', (ctx) => ctx.elicitUrl('k', page), said, accept()],
    ['a page', (ctx) => ctx.elicitUrl('k', page), { roots: [] }, accept()],
  ]
  test.each(wrong)(
    'an answer that does not fit %s is requested again, and not once it comes unchanged',
    async (_, use, bad, good) => {
      const run: RunHandler = (ctx) => use(ctx).then(() => 'done')
      const again = await completeCall(serve(run, mode), { k: bad, 'k~2': good })
      expect([again.asked, again.text]).toEqual([[['k'], ['k~2']], 'done'])
      const never = await completeCall(serve(run, mode), { k: bad, 'k~2': bad, 'k~3': bad })
      expect([never.asked.length, never.isError]).toEqual([2, true])
    },
  )

  test('a message of a model is a new object in every run', async () => {
    const seen: string[] = []
    const run: RunHandler = async (ctx) => {
      const message = await ctx.sample('model', hello)
      seen.push(JSON.stringify(message.content))
      Object.assign(message.content, { text: 'changed' })
      const [root] = await ctx.roots('where')
      seen.push(JSON.stringify(root))
      if (root) Object.assign(root, { uri: 'file:///etc' })
      await ctx.elicit('last', text)
      return 'done'
    }
    const where = { roots: [{ uri: 'file:///home' }] }
    await completeCall(serve(run, mode), { model: said, where, last: accept() })
    expect(new Set(seen)).toEqual(new Set(['{"type":"text","text":"Hello"}', '{"uri":"file:///home"}']))
  })
})

describe.each(replayModes)('a capability that a client did not declare, with strictReplay $strictReplay,', (mode) => {
  const needs: [string, (ctx: Context) => Promise<unknown>, JsonObject, JsonObject][] = [
    ['a form', (ctx) => ctx.elicit('k', text), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ['a form asked plainly', (ctx) => ctx.elicitResult('k', text), {}, { elicitation: { form: {} } }],
    [
      'several forms',
      (ctx) => Promise.all([ctx.elicit('k', text), ctx.elicit('l', text)]),
      {},
      { elicitation: { form: {} } },
    ],
    ['a page', (ctx) => ctx.elicitUrl('k', page), { elicitation: {} }, { elicitation: { url: {} } }],
    ['a model', (ctx) => ctx.sample('k', hello), { elicitation: {} }, { sampling: {} }],
    [
      'a model with tools',
      (ctx) => ctx.sample('k', { ...hello, tools }),
      { sampling: {} },
      { sampling: { tools: {} } },
    ],
    [
      'a model with a choice of tools',
      (ctx) => ctx.sample('k', { ...hello, toolChoice: { mode: 'auto' } }),
      { sampling: { context: {} } },
      { sampling: { tools: {} } },
    ],
    [
      'a model with context',
      (ctx) => ctx.sample('k', { ...hello, includeContext: 'thisServer' }),
      { sampling: { tools: {} } },
      { sampling: { context: {} } },
    ],
    ['roots', (ctx) => ctx.roots('k'), { sampling: {}, elicitation: {} }, { roots: {} }],
  ]
  const able = (capabilities: JsonObject) => ({ meta: { [metaKeys.clientCapabilities]: capabilities } })

  test.each(needs)(
    'for %s is never used: -32021 names the missing capability [MRT-015]',
    async (_, use, declared, missing) => {
      const run: RunHandler = (ctx) => use(ctx).then(() => 'done')
      const { error, requests } = await send(serve(run, mode), {}, able(declared))
      expect(requests).toEqual({})
      const questions = { k: { method: expect.any(String) } }
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: missing, questions } })
    },
  )

  test.each(needs)('for %s may be replaced: the handler catches the error and continues', async (_, use, declared) => {
    const run: RunHandler = (ctx) =>
      use(ctx).then(
        () => 'asked',
        (error: { code?: number }) => `without ${error.code}`,
      )
    const served = serve(run, mode)
    expect((await send(served, {}, able(declared))).text).toBe('without -32021')
    expect([served.warnings, served.reported]).toEqual([[], []])
  })

  test('is not asked in a later round either, when the client declares less than before [MRT-015]', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('first', text)
      await ctx.elicit('second', text)
      return 'done'
    }
    const served = serve(run, mode)
    const { state } = await send(served)
    const retry = { state, responses: { first: accept() } }
    const { error, requests } = await send(served, retry, able({ sampling: {}, roots: {} }))
    expect([error?.code, requests]).toEqual([-32021, {}])
    const again = await send(served, { state, responses: {} }, able({ roots: {} }))
    expect(again.error?.code).toBe(-32021)
  })

  test('does not matter for a question that has its answer', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('first', text)
      return 'done'
    }
    const served = serve(run, mode)
    const { state } = await send(served)
    expect((await send(served, { state, responses: { first: accept() } }, able({}))).text).toBe('done')
  })
})
