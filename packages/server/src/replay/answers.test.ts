import { errorCodes, type JsonObject, metaKeys } from '@x/schema'
import { memoryStore, randomKey, sealedState, singleUseState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { InputDeclined } from '../index.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve, toolKind } from '../testing/rounds.ts'

const age = {
  message: 'How old are you?',
  schema: z.object({ age: z.number().int().min(18), nick: z.string().default('nobody') }),
}
const doubled = {
  message: 'Which number?',
  schema: z.object({ n: z.number() }).transform(({ n }) => ({ twice: n * 2 })),
}
const actions = ['decline', 'cancel'] as const
const sentence = {
  decline: 'The user declined to answer the question "age"',
  cancel: 'The user dismissed the question "age"',
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe('an answer for a tool', () => {
    const run: RunHandler = async (ctx) => JSON.stringify(await ctx.elicit('age', age))

    test('is checked, and the handler receives the value that the schema returns', async () => {
      expect((await completeCall(serve(run, mode), { age: accept({ age: 20 }) })).text).toBe(
        '{"age":20,"nick":"nobody"}',
      )
      const twice: RunHandler = async (ctx) => String((await ctx.elicit('n', doubled)).twice)
      expect((await completeCall(serve(twice, mode), { n: accept({ n: 21 }) })).text).toBe('42')
    })

    test.each(actions)('that is %s ends the call and is never asked for again', async (action) => {
      const served = serve(run, mode)
      const { asked, text, isError } = await completeCall(served, { age: { action } })
      expect(asked).toEqual([['age']])
      expect([text, isError]).toEqual([sentence[action], true])
      expect(served.reported).toEqual([])
    })

    test.each(actions)('that is %s is what ctx.elicitResult returns, in every later run too', async (action) => {
      const asks: RunHandler = async (ctx) => {
        const first = await ctx.elicitResult('age', age)
        const second = await ctx.elicit('n', doubled)
        return JSON.stringify([first, second])
      }
      const { asked, text } = await completeCall(serve(asks, mode), { age: { action }, n: accept({ n: 1 }) })
      expect([asked, text]).toEqual([[['age'], ['n']], `[{"action":"${action}"},{"twice":2}]`])
    })

    test('that is missing is asked for again under the very key, with the same question [MRT-025]', async () => {
      const late = (_: unknown, round: number) => (round < 2 ? undefined : accept({ age: 30 }))
      const other = (_: unknown, round: number) => (round === 0 ? accept({ n: 1 }) : undefined)
      const both: RunHandler = async (ctx) => {
        const [{ age: years }, { twice }] = await Promise.all([ctx.elicit('age', age), ctx.elicit('n', doubled)])
        return `${years} ${twice}`
      }
      const { rounds, asked, text } = await completeCall(serve(both, mode), { age: late, n: other })
      expect([asked, text]).toEqual([[['age', 'n'], ['age'], ['age']], '30 2'])
      expect(rounds[1]?.requests['age']).toEqual(rounds[0]?.requests['age'])
      expect(rounds[2]?.requests['age']).toEqual(rounds[0]?.requests['age'])
    })

    test('that does not fit is asked for twice more under new keys, with the reason, and then the tool ends', async () => {
      const {
        rounds,
        asked,
        isError,
        text: ending,
      } = await completeCall(serve(run, mode), {
        age: accept({ age: 5 }),
        'age~2': accept({ age: 'x' }),
        'age~3': accept({ age: 6 }),
        'age~4': accept({ age: 20 }),
      })
      expect(asked).toEqual([['age'], ['age~2'], ['age~3']])
      const messages = rounds.flatMap(({ requests }) => Object.values(requests).map(({ params }) => params))
      expect(messages).toMatchObject([
        { message: 'How old are you?' },
        { message: expect.stringMatching(/^How old are you\?\n\nThe last answer did not fit:\n- age: .*18/) },
        { message: expect.stringMatching(/^How old are you\?\n\nThe last answer did not fit:\n- age: .*number/) },
      ])
      expect([isError, ending]).toEqual([
        true,
        expect.stringMatching(/^The question "age" got no valid answer\. The last answer did not fit:\n- age: /),
      ])
    })

    test.each([
      ['an empty answer', { age: accept({}) }, [['age']]],
      ['an accepted form without content', { age: { action: 'accept' } }, [['age']]],
      ['the same answer again', { age: accept({ age: 5 }), 'age~2': accept({ age: 5 }) }, [['age'], ['age~2']]],
    ])('that does not fit is not asked for again if it is %s', async (_, answers, expected) => {
      const { asked, isError } = await completeCall(serve(run, mode), answers)
      expect([asked, isError]).toEqual([expected, true])
    })

    test('that fits after one that does not ends the call well, and an answer to the old key is ignored', async () => {
      const { asked, text } = await completeCall(serve(run, mode), {
        age: accept({ age: 5 }),
        'age~2': accept({ age: 6 }),
        'age~3': accept({ age: 44 }),
      })
      expect([asked, text]).toEqual([[['age'], ['age~2'], ['age~3']], '{"age":44,"nick":"nobody"}'])
      const served = serve(run, mode)
      const first = await send(served)
      const second = await send(served, { state: first.state, responses: { age: accept({ age: 5 }) } })
      const third = await send(served, { state: second.state, responses: { age: accept({ age: 20 }) } })
      expect(Object.keys(third.requests)).toEqual(['age~2'])
    })

    test('to no question is ignored [MRT-024]', async () => {
      const served = serve(run, mode)
      const { state } = await send(served)
      const responses = Object.fromEntries([
        ['age', accept({ age: 20 })],
        ['age~2', accept({ age: 99 })],
        ['other', accept({})],
        ['__proto__', accept({ age: 99 })],
        ['constructor', { roots: [] }],
        ['', { action: 'decline' }],
      ])
      expect((await send(served, { state, responses })).text).toBe('{"age":20,"nick":"nobody"}')
    })

    test('that a client gives before it is asked is not believed: the question is asked all the same [MRT-024]', async () => {
      const served = serve(run, mode)
      const responses = { age: accept({ age: 20 }) }
      const round = await send(served, { responses })
      expect([Object.keys(round.requests), round.text]).toEqual([['age'], undefined])
      expect((await send(served, { state: round.state, responses })).text).toBe('{"age":20,"nick":"nobody"}')
    })

    test('of a client that declared nothing is not believed [MRT-015]', async () => {
      const responses = { age: accept({ age: 20 }) }
      const meta = { [metaKeys.clientCapabilities]: {} }
      const { error, text } = await send(serve(run, mode), { responses }, { meta })
      expect([error?.code, text]).toEqual([errorCodes.missingRequiredClientCapability, undefined])
    })

    const malformed: [string, unknown][] = [
      ['null', null],
      ['a list', []],
      ['text', 'age'],
      ['an answer that is null', { age: null }],
      ['an answer of no kind', { age: { yes: true } }],
      ['an action that does not exist', { age: { action: 'maybe' } }],
      ['content that is not an object', { age: { action: 'accept', content: [1] } }],
    ]
    test.each(malformed)('that is %s is refused as invalid params [MRT-022 MRT-023]', async (_, responses) => {
      const served = serve(run, mode)
      const { state } = await send(served)
      const given: JsonObject = JSON.parse(JSON.stringify({ responses }))
      const { error } = await send(served, { state, responses: given['responses'] })
      expect(error?.code).toBe(errorCodes.invalidParams)
    })
  })

  test('an accepted answer without content is checked as an empty one', async () => {
    const run: RunHandler = async (ctx) =>
      JSON.stringify(await ctx.elicit('age', { message: 'm', schema: z.object({}) }))
    expect((await completeCall(serve(run, mode), { age: { action: 'accept' } })).text).toBe('{}')
  })

  test('the first answer wins: one that comes again with a later round changes nothing', async () => {
    const run: RunHandler = async (ctx) => {
      const { twice } = await ctx.elicit('n', doubled)
      return `${twice} ${(await ctx.elicit('m', doubled)).twice}`
    }
    const served = serve(run, mode)
    const first = await send(served)
    const second = await send(served, { state: first.state, responses: { n: accept({ n: 1 }) } })
    const last = await send(served, {
      state: second.state,
      responses: { n: accept({ n: 100 }), m: accept({ n: 2 }) },
    })
    expect(last.text).toBe('2 4')
  })

  test('a handler may catch that its user declined, and go on', async () => {
    const run: RunHandler = async (ctx) => {
      try {
        return JSON.stringify(await ctx.elicit('age', age))
      } catch (error) {
        if (!(error instanceof InputDeclined)) throw error
        return `${error.key} ${error.action}`
      }
    }
    expect((await completeCall(serve(run, mode), { age: { action: 'cancel' } })).text).toBe('age cancel')
  })

  test('an answer of another kind than the form is asked for again', async () => {
    const run: RunHandler = async (ctx) => String((await ctx.elicit('n', doubled)).twice)
    const roots = { roots: [] }
    const said = { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }
    const { asked, text } = await completeCall(serve(run, mode), { n: roots, 'n~2': said, 'n~3': accept({ n: 3 }) })
    expect([asked, text]).toEqual([[['n'], ['n~2'], ['n~3']], '6'])
  })

  test('a change that a handler makes to an answer does not reach later runs', async () => {
    const run: RunHandler = async (ctx) => {
      const { content } = await ctx.elicitResult('n', { message: 'm', schema: z.looseObject({ tags: z.string() }) })
      if (content) content.tags += '!'
      await ctx.elicit('next', doubled)
      return String(content?.tags)
    }
    const answers = { n: accept({ tags: 'a' }), next: accept({ n: 1 }) }
    expect((await completeCall(serve(run, mode), answers)).text).toBe('a!')
  })

  test('a schema that fits no form fails the call and is logged, also when the handler catches the error', async () => {
    const schema = z.object({ deep: z.object({ no: z.string() }) })
    const run: RunHandler = (ctx) => ctx.elicit('bad', { message: 'm', schema }).then(String, () => 'swallowed')
    const served = serve(run, mode)
    const { text, isError } = await send(served)
    expect([text, isError]).toEqual(['Tool "do" failed', true])
    expect(served.reported[0]?.error).toMatchObject({
      code: 'question',
      message: expect.stringMatching(/"bad".*deep/s),
    })
  })

  test('a server with state: false fails a call that asks, and logs the reason without sending it', async () => {
    const run: RunHandler = async (ctx) => ctx.elicit('n', doubled).then(String, () => 'swallowed')
    const served = serve(run, { ...mode, state: false }, toolKind)
    const { text, isError } = await send(served)
    expect([text, isError]).toEqual(['Tool "do" failed', true])
    expect(served.reported[0]?.error).toMatchObject({ code: 'state', message: expect.stringContaining('state: false') })
  })
})

describe('fifty wrong answers, with every state that the client has had', () => {
  const sealedOnly = () => sealedState({ keys: [randomKey()] })

  test.each([
    ['are all taken, as an earlier state opens again', 50, sealedOnly],
    ['are taken three times where a state opens once', 3, () => singleUseState(sealedOnly(), memoryStore())],
  ])('%s', async (_title, most, codec) => {
    const run: RunHandler = async (ctx) => JSON.stringify(await ctx.elicit('age', age))
    const served = serve(run, { state: codec(), strictReplay: false })
    const responses = { age: accept({ age: 5 }), 'age~2': accept({ age: 6 }), 'age~3': accept({ age: 7 }) }
    const states = [(await send(served)).state]
    let taken = 0
    for (let at = 0; at < 50; at++) {
      const { state, error, isError } = await send(served, { state: states[at % states.length], responses })
      // The last answer of a run ends its call, and was read too.
      if (state !== undefined || isError) taken++
      else expect(error).toMatchObject({ code: errorCodes.invalidParams, message: 'Invalid or expired requestState' })
      if (state !== undefined) states.push(state)
    }
    expect(taken).toBe(most)
  })
})
