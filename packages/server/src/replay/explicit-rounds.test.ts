import { errorCodes, type InputRequest, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inputRequired } from '../index.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const form = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: { n: { type: 'string' } } } },
} as const satisfies InputRequest
const page = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go', url: 'https://example.com' },
} as const satisfies InputRequest
const model = {
  method: 'sampling/createMessage',
  params: { messages: [], maxTokens: 1 },
} as const satisfies InputRequest
const roots = { method: 'roots/list' } as const satisfies InputRequest

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe('a tool that returns inputRequired', () => {
    test('asks its requests, and reads the answers and its own state in the next round [MRT-005 MRT-006 MRT-014]', async () => {
      const run: RunHandler = (ctx) => {
        const { responses, state } = ctx
        if (state === undefined) return inputRequired({ requests: { who: form, where: roots }, state: { step: 1 } })
        if (responses.size < 3 && JSON.stringify(state) === '{"step":1}') {
          const seen = JSON.stringify([...responses])
          return inputRequired({ requests: { model }, state: { step: 2, seen } })
        }
        return JSON.stringify([state, [...responses.keys()]])
      }
      const said = { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }
      const answers = { who: accept({ n: 'Ada' }), where: { roots: [] }, model: said }
      const { rounds, asked, text } = await completeCall(serve(run, mode), answers)
      expect(asked).toEqual([['who', 'where'], ['model']])
      expect(rounds[0]?.requests).toEqual({ who: form, where: roots })
      const seen = JSON.stringify([
        ['who', answers.who],
        ['where', answers.where],
      ])
      expect(text).toBe(JSON.stringify([{ step: 2, seen }, ['model']]))
    })

    test('may keep state alone, and the client retries at once', async () => {
      const run: RunHandler = ({ state }) => (state === undefined ? inputRequired({ state: null }) : `state ${state}`)
      const served = serve(run, mode)
      const first = await send(served)
      expect('result' in first.response && 'inputRequests' in first.response.result).toBe(false)
      expect((await send(served, { state: first.state })).text).toBe('state null')
    })

    test('reads answers that come without requestState, and no state: it does not ask for ever [MRT-024]', async () => {
      const run: RunHandler = ({ responses, state }) =>
        responses.has('who') ? `${[...responses.keys()]} ${state}` : inputRequired({ requests: { who: form } })
      const served = serve(run, mode)
      expect(Object.keys((await send(served)).requests)).toEqual(['who'])
      expect((await send(served, { responses: { who: accept() } })).text).toBe('who undefined')
      expect(Object.keys((await send(served, { responses: { other: accept() } })).requests)).toEqual(['who'])
    })

    test('refuses more than 100 answers without requestState, and answers of more than a megabyte', async () => {
      const served = serve(({ responses }) => `${responses.size}`, mode)
      const answers = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, accept()]))
      expect((await send(served, { responses: answers(100) })).text).toBe('100')
      const many = await send(served, { responses: answers(101) })
      const large = await send(served, { responses: { a: accept({ text: 'x'.repeat(1_048_577) }) } })
      const unlike = await send(served, { responses: { a: { yes: true } } })
      expect([many.error?.code, large.error?.code, unlike.error?.code]).toEqual(Array(3).fill(errorCodes.invalidParams))
      expect(many.error?.message).toContain('at most 100 answers')
    })

    test('and gives it no state needs no keys', async () => {
      const run: RunHandler = ({ responses }) =>
        responses.has('who') ? 'done' : inputRequired({ requests: { who: form } })
      const served = serve(run, { ...mode, state: false })
      const first = await send(served)
      expect([Object.keys(first.requests), first.state]).toEqual([['who'], undefined])
      expect((await send(served, { responses: { who: accept() } })).text).toBe('done')
    })

    test('verifies a requestState beside answers as ever [MRT-009]', async () => {
      const run: RunHandler = ({ responses }) =>
        responses.has('who') ? 'done' : inputRequired({ requests: { who: form } })
      const { error } = await send(serve(run, mode), { state: 'forged', responses: { who: accept() } })
      expect(error).toMatchObject({ code: errorCodes.invalidParams, data: { reason: 'requestState' } })
    })

    test('drops answers that were not asked for, or are of another kind than was asked', async () => {
      const run: RunHandler = ({ responses, state }) =>
        state === undefined
          ? inputRequired({ requests: { who: form, where: roots, model }, state: 1 })
          : JSON.stringify([...responses.keys()])
      const served = serve(run, mode)
      const { state } = await send(served)
      const responses = { who: { roots: [] }, where: accept(), model: accept(), other: accept(), constructor: accept() }
      expect((await send(served, { state, responses })).text).toBe('[]')
      const good = { who: accept(), where: { roots: [] }, __proto: accept() }
      expect((await send(served, { state, responses: good })).text).toBe('["who","where"]')
    })

    test('and gives it neither requests nor state fails, with an error in the log [MRT-014]', async () => {
      const served = serve(() => inputRequired({}), mode)
      const { text, error } = await send(served)
      expect(text === 'Tool "do" failed' || error?.code === errorCodes.internal).toBe(true)
      expect(served.reported).toMatchObject([
        { error: { code: 'question', message: expect.stringContaining('neither requests nor state') } },
      ])
    })

    const lacking: [string, object, object][] = [
      ['a form', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
      ['a page', { elicitation: {} }, { elicitation: { url: {} } }],
      ['anything', {}, { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }],
      ['a model', { elicitation: { form: {}, url: {} }, roots: {} }, { sampling: {} }],
    ]
    test.each(lacking)('is refused for a client that cannot answer %s [MRT-015]', async (_, declared, missing) => {
      const run: RunHandler = () => inputRequired({ requests: { form, page, model, roots } })
      const meta = { [metaKeys.clientCapabilities]: JSON.parse(JSON.stringify(declared)) }
      const { error, requests } = await send(serve(run, mode), {}, { meta })
      expect(requests).toEqual({})
      const questions = { form: {}, page: {}, model: {}, roots: {} }
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: missing, questions } })
    })

    test('and gives it a state that is not JSON fails, and the log names the member', async () => {
      const run: RunHandler = () => Reflect.apply(inputRequired, undefined, [{ state: { at: new Date(0) } }])
      const served = serve(run, mode)
      const { text, error } = await send(served)
      expect(text === 'Tool "do" failed' || error?.code === errorCodes.internal).toBe(true)
      expect(served.reported).toMatchObject([
        { error: { code: 'json', message: expect.stringContaining('/at is a Date') } },
      ])
    })
  })

  test('inputRequired with state: false fails, with an error in the log', async () => {
    const served = serve(() => inputRequired({ state: 1 }), { ...mode, state: false })
    expect((await send(served)).text).toBe('Tool "do" failed')
    expect(served.reported).toMatchObject([{ error: { code: 'state' } }])
  })

  test('the result of a step before an explicit round is there after it', async () => {
    let ran = 0
    const run: RunHandler = async (ctx) => {
      const count = await ctx.step('count', () => ++ran)
      return ctx.state === undefined ? inputRequired({ state: 1 }) : `${count} ${ctx.now() > 0}`
    }
    expect((await completeCall(serve(run, mode))).text).toBe('1 true')
  })

  test('a question that is swallowed before inputRequired fails the call', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('k', { message: 'm', schema: z.object({}) }).catch(() => {})
      return ctx.state === undefined ? inputRequired({ requests: { form }, state: 1 }) : 'done'
    }
    const served = serve(run, mode)
    expect(await send(served)).toMatchObject({ requests: {}, isError: true })
    expect(served.reported).toMatchObject([{ error: { code: 'swallowed' } }])
  })

  test('the state and the answers of a round are for the next round alone, even when that round uses ctx.elicit', async () => {
    const seen: string[] = []
    const run: RunHandler = async (ctx) => {
      seen.push(`${ctx.state} ${ctx.responses.size}`)
      if (ctx.state === undefined && seen.length < 3) return inputRequired({ requests: { form }, state: 1 })
      await ctx.elicit('k', { message: 'm', schema: z.object({}) })
      return 'done'
    }
    const { asked } = await completeCall(serve(run, { strictReplay: false }), { k: accept(), form: accept() })
    expect([asked, seen]).toEqual([
      [['form'], ['k']],
      ['undefined 0', '1 1', 'undefined 0'],
    ])
  })

  test('a change that a handler makes to the answers of a round does not reach the next run', async () => {
    const seen: string[] = []
    const run: RunHandler = async (ctx) => {
      const where = ctx.responses.get('where')
      if (where === undefined) return inputRequired({ requests: { where: roots } })
      seen.push(JSON.stringify(where))
      Object.assign(where, { roots: [{ uri: 'file:///etc' }] })
      await ctx.step('work', () => 1)
      return 'done'
    }
    expect((await completeCall(serve(run, mode), { where: { roots: [] } })).text).toBe('done')
    expect(new Set(seen)).toEqual(new Set(['{"roots":[]}']))
  })
})

test('a handler that changes the state of its context does not change that of its next run', async () => {
  const seenCounts: unknown[] = []
  const run: RunHandler = async (ctx) => {
    if (ctx.state === undefined) return inputRequired({ state: { count: 1 } })
    // A program without types can write it.
    const state = ctx.state as { count: number }
    seenCounts.push(state.count)
    state.count += 1
    await ctx.step('work', () => 1)
    return 'done'
  }
  const served = serve(run, { strictReplay: true })
  const first = await send(served)
  expect((await send(served, { state: first.state })).text).toBe('done')
  expect(seenCounts).toEqual([1, 1])
})
